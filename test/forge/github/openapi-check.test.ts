/** The judge itself: what GitHub does not describe is found. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answerProblems, complete, findOperation, requestProblems } from './openapi-check.ts'

const OPEN = 'POST /repos/{owner}/{repo}/pulls'

function problemsOf(method: string, path: string, body?: unknown, query = ''): string[] {
  const found = findOperation(method, path)
  assert.ok(found !== undefined, path)
  return requestProblems(found, new URLSearchParams(query), body)
}

it('finds the operation of a path and decodes its parameters', () => {
  const found = findOperation('DELETE', '/repos/acme/deploy/issues/7/labels/drift-risk%2Flow')
  assert.deepEqual(found?.parameters, {
    owner: 'acme',
    repo: 'deploy',
    issue_number: '7',
    name: 'drift-risk/low',
  })
  assert.equal(
    findOperation('PATCH', '/repos/acme/deploy/issues/comments/9')?.name,
    'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
  )
  assert.equal(findOperation('GET', '/repos/acme/deploy/nothing'), undefined)
})

it('accepts a valid request, and reports what is wrong in others', () => {
  const path = '/repos/acme/deploy/pulls'
  const right = { title: 'a', head: 'b', base: 'main', draft: true }
  assert.deepEqual(problemsOf('POST', path, right), [])
  assert.match(problemsOf('POST', path, { ...right, base: undefined }).join(), /base/)
  assert.match(problemsOf('POST', path, { ...right, title: [] }).join(), /title/)
  assert.match(
    problemsOf('POST', path, { ...right, labels: ['x'] }).join(),
    /labels is not described/,
  )
  assert.match(problemsOf('POST', path).join(), /body is missing/)
  assert.deepEqual(problemsOf('GET', path, undefined, 'state=all&per_page=100'), [])
  assert.match(problemsOf('GET', path, undefined, 'state=everything').join(), /allowed values/)
  assert.match(problemsOf('GET', path, undefined, 'limit=50').join(), /limit/)
  assert.match(problemsOf('GET', '/repos/acme/deploy/pulls/abc').join(), /pull_number/)
})

it('completes a partial answer to a valid one, and reports what is wrong in others', () => {
  const pull = complete(OPEN, 201, { number: 7, title: 'a', labels: [{ name: 'drift' }] })
  assert.deepEqual(answerProblems(OPEN, 201, pull), [])
  const wrong = complete(OPEN, 201, { number: 'seven', merge_sha: 'x', head: { ref: 1 } })
  assert.match(answerProblems(OPEN, 201, wrong).join(), /number must be integer/)
  assert.match(answerProblems(OPEN, 201, wrong).join(), /merge_sha is not described/)
  assert.match(answerProblems(OPEN, 201, { number: 7 }).join(), /must have required property/)
  assert.match(answerProblems(OPEN, 418, {}).join(), /never answers 418/)
})
