/** Everything of GitHub's REST interface that the adapter uses; a request to anything else fails the tests. */
const REPOSITORY = '/repos/{owner}/{repo}'

export const USED_OPERATIONS = [
  `GET ${REPOSITORY}`,
  `GET ${REPOSITORY}/installation`,
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /installation/repositories',
  `GET ${REPOSITORY}/pulls`,
  `POST ${REPOSITORY}/pulls`,
  `GET ${REPOSITORY}/pulls/{pull_number}`,
  `PATCH ${REPOSITORY}/pulls/{pull_number}`,
  `PUT ${REPOSITORY}/pulls/{pull_number}/merge`,
  `POST ${REPOSITORY}/pulls/{pull_number}/requested_reviewers`,
  `GET ${REPOSITORY}/labels`,
  `POST ${REPOSITORY}/labels`,
  `POST ${REPOSITORY}/issues/{issue_number}/labels`,
  `DELETE ${REPOSITORY}/issues/{issue_number}/labels/{name}`,
  `GET ${REPOSITORY}/issues`,
  `POST ${REPOSITORY}/issues`,
  `GET ${REPOSITORY}/issues/{issue_number}`,
  `PATCH ${REPOSITORY}/issues/{issue_number}`,
  `GET ${REPOSITORY}/issues/{issue_number}/comments`,
  `POST ${REPOSITORY}/issues/{issue_number}/comments`,
  `PATCH ${REPOSITORY}/issues/comments/{comment_id}`,
  `DELETE ${REPOSITORY}/issues/comments/{comment_id}`,
  `GET ${REPOSITORY}/issues/comments/{comment_id}/reactions`,
  `POST ${REPOSITORY}/issues/comments/{comment_id}/reactions`,
  `GET ${REPOSITORY}/collaborators/{username}/permission`,
  `GET ${REPOSITORY}/commits/{ref}/status`,
  `POST ${REPOSITORY}/statuses/{sha}`,
  `GET ${REPOSITORY}/rules/branches/{branch}`,
  `GET ${REPOSITORY}/commits/{ref}/check-runs`,
  `POST ${REPOSITORY}/check-runs`,
  `PATCH ${REPOSITORY}/check-runs/{check_run_id}`,
] as const

export type UsedOperation = (typeof USED_OPERATIONS)[number]
