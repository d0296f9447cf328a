"""Search as a model uses it: natural questions over 245 tools of 40 servers, the right one among the first three."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.model.tools import Tool
from paddock.tools.search import Index

DATA = Path(__file__).parent / "data" / "many_tools.txt"
FIRST = 3
QUESTIONS = {
    "open a bug report on github": "github.create_issue",
    "merge a PR": "github.merge_pull_request",
    "approve pull request": "github.create_pull_request_review",
    "did CI checks pass on the pull request": "github.get_pull_request_status",
    "read a file from a github repo": "github.get_file_contents",
    "rerun failed workflow": "github.rerun_workflow",
    "send a message to a slack channel": "slack.slack_post_message",
    "react with an emoji": "slack.slack_add_reaction",
    "recent messages in channel": "slack.slack_get_channel_history",
    "move jira ticket to done": "jira.transitionIssue",
    "search tickets with jql": "jira.searchIssuesUsingJql",
    "log time on a ticket": "jira.addWorklog",
    "run a SQL query on postgres": "postgres.query",
    "columns of a table": "postgres.describe_table",
    "slowest queries": "postgres.get_top_queries",
    "rename a file": "filesystem.move_file",
    "find files matching a glob": "filesystem.search_files",
    "who changed this line": "git.git_blame",
    "commit history": "git.git_log",
    "schedule a meeting": "calendar.create_event",
    "find a time when everyone is free": "calendar.suggest_time",
    "decline the invitation": "calendar.respond_to_event",
    "send an email with attachment": "gmail.send_email",
    "search my inbox": "gmail.search_threads",
    "refund a payment": "stripe.create_refund",
    "cancel customer subscription": "stripe.cancel_subscription",
    "list unpaid invoices": "stripe.list_invoices",
    "how much stock is left, change inventory level": "shopify.adjust-inventory",
    "mark order as shipped": "shopify.create-fulfillment",
    "take a screenshot of a web page": "browser.browser_take_screenshot",
    "search the internet": "websearch.brave_web_search",
    "driving directions from A to B": "maps.maps_directions",
    "address to coordinates": "maps.maps_geocode",
    "weather tomorrow": "weather.get_forecast",
    "what time is it in Tokyo": "time.get_current_time",
    "who is on call": "pagerduty.get_oncalls",
    "pod logs": "kubernetes.pods_log",
    "scale a deployment to 5 replicas": "kubernetes.deployments_scale",
    "stack trace of an error": "sentry.get_issue_details",
    "append a row to a spreadsheet": "sheets.append_rows",
    "text someone's phone": "twilio.send_sms",
    "upload a file to s3": "aws.s3_put_object",
    "translate to French": "translate.translate_text",
    "create PR": "github.create_pull_request",
    "list open pull requests": "github.list_pull_requests",
    "diff of a pull request": "github.get_pull_request_files",
    "new git branch": "git.git_create_branch",
    "delete a repo file": "github.delete_file",
    "DM a teammate": "slack.slack_post_message",
    "reply in thread": "slack.slack_reply_to_thread",
    "create a ticket": "jira.createIssue",
    "assign ticket to me": "jira.assignIssue",
    "current sprint": "jira.getSprint",
    "wiki page content": "confluence.getPage",
    "insert rows into database": "sqlite.write_query",
    "list database tables": "postgres.list_tables",
    "redis keys": "redis.list",
    "mongo aggregation": "mongodb.aggregate",
    "make a folder": "filesystem.create_directory",
    "file size and permissions": "filesystem.get_file_info",
    "uncommitted changes": "git.git_status",
    "events next week": "calendar.list_events",
    "reschedule event": "calendar.update_event",
    "unread emails": "gmail.search_threads",
    "download email attachment": "gmail.download_attachment",
    "share a google doc": "drive.share_file",
    "read cells from google sheet": "sheets.get_values",
    "charge disputes": "stripe.list_disputes",
    "account balance": "stripe.retrieve_balance",
    "give customer a discount": "stripe.create_coupon",
    "get customer's orders": "shopify.get-orders",
    "click button": "browser.browser_click",
    "fill in form fields": "browser.browser_fill_form",
    "save webpage as pdf": "browser.browser_pdf_save",
    "latest news": "websearch.brave_news_search",
    "restaurants nearby": "maps.maps_search_places",
    "travel time between cities": "maps.maps_distance_matrix",
    "temperature right now": "weather.get_current",
    "timezone conversion": "time.convert_time",
    "search application logs": "datadog.search_logs",
    "mute alert": "datadog.mute_monitor",
    "running containers": "docker.list_containers",
    "delete pod": "kubernetes.pods_delete",
    "monthly aws cost": "aws.cost_get_cost_and_usage",
    "invoke lambda": "aws.lambda_invoke",
    "crm contacts": "hubspot.hubspot-search-contacts",
    "answer support ticket": "zendesk.reply_to_ticket",
    "play music": "spotify.start_playback",
    "export figma icons": "figma.download_figma_images",
    "getPullRequest": "github.get_pull_request",
    "create_invoices": "stripe.create_invoice",
    "exchange rate dollars to euros": "currency.convert_currency",
}


def tools() -> list[Tool]:
    made = []
    for line in DATA.read_text(encoding="utf-8").splitlines():
        name, description, parameters = (part.strip() for part in f"{line} ".split(" | "))
        server, _, tool = name.partition(".")
        properties = {parameter: {"type": "string"} for parameter in parameters.split()}
        made.append(Tool(server, tool, description, {"type": "object", "properties": properties}))
    return made


@pytest.fixture(scope="module")
def index() -> Index:
    return Index(tools())


def test_nine_of_ten_questions_find_their_tool_among_the_first_three(index: Index) -> None:
    missed = {
        question: [found.tool.full_name for found in index.search(question, limit=FIRST)]
        for question, wanted in QUESTIONS.items()
        if wanted not in [found.tool.full_name for found in index.search(question, limit=FIRST)]
    }
    assert len(QUESTIONS) >= 40
    assert len(missed) <= len(QUESTIONS) // 10, missed


def test_every_question_has_the_same_answer_whatever_the_order_of_the_tools(index: Index) -> None:
    turned = Index(reversed(tools()))
    for question in QUESTIONS:
        assert index.search(question) == turned.search(question)
