import socket

connection = socket.socket()
connection.connect(("192.0.2.1", 80))
