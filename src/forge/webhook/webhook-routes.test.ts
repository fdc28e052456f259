import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterRemotes } from './webhook-routes.ts'

test('a delivery is about the repositories with its owner and name, and about those that have none', () => {
  const [web, ssh, api, path] = [
    'https://git.example.com/acme/web.git',
    'git@github.com:Acme/Web',
    'https://git.example.com/acme/api',
    '/srv/web',
  ]
  const remotes = [web, ssh, api, path]
  assert.deepEqual(filterRemotes('acme/web', remotes), [web, ssh, path])
  assert.deepEqual(filterRemotes('ACME/api', remotes), [api, path])
  assert.deepEqual(filterRemotes('acme/other', [web, ssh, api]), [])
})
