def add(item, basket=[]):
    basket.append(item)
    return baskett


if add("lamp") is "lamp":
    print("added")
