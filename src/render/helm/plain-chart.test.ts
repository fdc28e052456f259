import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildOf } from '../kustomize/read-built.ts'
import { plainChart } from './plain-chart.ts'

const file = (path: string, text: string) => [path, { path, mode: '100644', content: new TextEncoder().encode(text) }] as const
const FILES = new Map([file('apps/web/Chart.yaml', 'name: web\nversion: 1.0.0\n'), file('values/web.yaml', 'a: b\n')])

function ordered(values: readonly string[]) {
  const synced = plainChart({ tool: 'helm', path: '', release: 'web', namespace: 'shop', values }, 'apps/web')
  return buildOf({ tool: 'helm', folder: synced.folder, files: FILES, command: [], synced })
}

test('a file of values may be beside the package, and not outside of the repository', () => {
  const inside = ordered(['../../values/web.yaml'])
  assert.ok('tool' in inside)
  assert.deepEqual(inside.command.slice(inside.command.indexOf('--values')), ['--values', 'values/web.yaml'])
  const outside = ordered(['../../../../../../etc/hostname'])
  assert.ok('failure' in outside)
  assert.deepEqual(
    [outside.failure.code, outside.failure.why],
    ['BP1210', 'its file of values ../../../../../../etc/hostname is outside of the repository'],
  )
})
