import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followLinks } from './linked-files.ts'

const FILES = new Map(
  Object.entries({
    'web/values.yaml': '../shared/web.yaml',
    'web/chain.yaml': 'values.yaml',
    'web/env': '../environments/prod',
    'environments/prod': 'eu',
    'web/circle': 'circle',
    'web/absolute.yaml': '/etc/passwd',
    'web/out.yaml': '../../other/values.yaml',
    'web/root': '..',
  }).map(([path, text]) => [
    path,
    { path, mode: '120000' as const, content: new TextEncoder().encode(text) },
  ]),
)

for (const [path, to] of [
  ['web/plain.yaml', 'web/plain.yaml'],
  ['web/values.yaml', 'shared/web.yaml'],
  ['web/chain.yaml', 'shared/web.yaml'],
  ['web/env/values.yaml', 'environments/eu/values.yaml'],
  ['web/root/a.yaml', 'a.yaml'],
  ['web/circle', undefined],
  ['web/absolute.yaml', undefined],
  ['web/out.yaml', undefined],
] as const)
  test(`${path} resolves to ${to ?? 'nothing in the repository'}`, () =>
    assert.equal(followLinks(path, FILES), to))
