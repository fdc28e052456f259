import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterRemotes } from './webhook-routes.ts'

test('a delivery concerns the remotes with its owner and name, and those without a name', () => {
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
