import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phasesOf } from './bench-controller.ts'

const line = (at: number, took: number, what: string) => ({ at, took, what })

test('the phases of a turn follow each other, and their sum is the whole', () => {
  const turn = [
    line(540, 30, 'git-upload-pack http://forge/acme/x.git: list refs  2 refs'),
    line(560, 10, 'GET /api/v1/repos/acme/x/pulls  200'),
    line(600, 20, 'GET /version  200 (350 characters)'),
    line(700, 90, 'GET /apis/apps/v1/namespaces/x/deployments?limit=500  200 (1 characters)'),
    line(760, 20, 'git-receive-pack http://forge/acme/x.git: list refs  2 refs'),
    line(900, 100, 'git-receive-pack http://forge/acme/x.git: send 4935 bytes  answers'),
    line(1_100, 150, 'POST /api/v1/repos/acme/x/pulls  201'),
    line(1_200, 10, 'POST /api/v1/repos/acme/x/statuses/abc  201'),
  ]
  const phases = phasesOf(turn, 0)
  assert.deepEqual(phases, {
    waited: 510,
    read: 70,
    observed: 120,
    planned: 100,
    pushed: 100,
    opened: 200,
    end: 1_100,
    requests: 2,
  })
  const { end, requests: _requests, ...parts } = phases
  assert.equal(
    Object.values(parts).reduce((sum, part) => sum + part),
    end,
  )
})

test('a turn that made no pull request has no phases', () => {
  assert.throws(
    () => phasesOf([line(600, 20, 'GET /version  200 (350 characters)')], 0),
    /a turn of 1 requests/,
  )
})
