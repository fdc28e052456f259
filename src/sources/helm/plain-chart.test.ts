import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PackageFile } from '@backporch/kyaml/files'
import { createBuild } from '../build/read-built.ts'
import { HELM_TOOL } from './helm-tool.ts'
import { createPlainChartBuild } from './plain-chart.ts'

const file = (path: string, text: string): readonly [string, PackageFile] => [
  path,
  { path, mode: '100644', content: new TextEncoder().encode(text) },
]
const FILES = new Map([
  file('apps/web/Chart.yaml', 'name: web\nversion: 1.0.0\n'),
  file('values/web.yaml', 'a: b\n'),
])

function ordered(
  values: readonly string[],
  links: readonly (readonly [string, PackageFile])[] = [],
) {
  const synced = createPlainChartBuild(
    { tool: 'helm', path: '', release: 'web', namespace: 'shop', values },
    'apps/web',
  )
  return createBuild({
    tool: HELM_TOOL,
    folder: synced.folder,
    files: new Map([...FILES, ...links]),
    command: [],
    synced,
  })
}

test('accepts a values file beside the package, but not outside the repository', () => {
  const inside = ordered(['../../values/web.yaml'])
  assert.ok('tool' in inside)
  assert.deepEqual(inside.command.slice(inside.command.indexOf('--values')), [
    '--values',
    'values/web.yaml',
  ])
  const outside = ordered(['../../../../../../etc/hostname'])
  assert.ok('failure' in outside)
  assert.deepEqual(
    [outside.failure.code, outside.failure.why],
    [
      'BP1210',
      'its file of values ../../../../../../etc/hostname is outside of the repository, or a link out of it',
    ],
  )
})

test('follows a values file that is a link, and rejects a link out of the repository', () => {
  const link = (text: string) =>
    [
      [
        'apps/web/prod.yaml',
        { path: 'apps/web/prod.yaml', mode: '120000', content: new TextEncoder().encode(text) },
      ],
    ] as const
  const inside = ordered(['prod.yaml'], link('../../values/web.yaml'))
  assert.ok('tool' in inside)
  assert.deepEqual(inside.command.slice(inside.command.indexOf('--values')), [
    '--values',
    'values/web.yaml',
  ])
  const outside = ordered(['prod.yaml'], link('/etc/hostname'))
  assert.ok('failure' in outside)
  assert.match(
    outside.failure.why,
    /^its file of values apps\/web\/prod\.yaml is outside of the repository, or a link out of it$/,
  )
})
