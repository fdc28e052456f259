import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { adopted, changeIn } from '../../../../test/fakes/adoption-samples.ts'
import { APPLY_SETTERS, settersConfig, webKptfile } from '../../../../test/fakes/pipeline-files.ts'

const LISTS = {
  Kptfile: webKptfile(APPLY_SETTERS),
  'setters.yaml': settersConfig(
    '  hosts: |\n    - one\n    - two\n  zones: "[east, west]"\n  last: |\n    - only\n',
  ),
  'route.yaml': `apiVersion: example.com/v1
kind: Route
metadata:
  name: web
  finalizers: # kpt-set: \${last}
    - only
spec:
  hosts: # kpt-set: \${hosts}
    - one
    - two
  zones: # kpt-set: \${zones}
    - east
    - west
`,
}

const ADDED = {
  'apps/web/setters.yaml': ['+    - three'],
  'apps/web/route.yaml': ['+    - three'],
}

const CASES: readonly (readonly [
  string,
  string,
  Json | undefined,
  Readonly<Record<string, readonly string[]>>,
])[] = [
  ['an added item', 'spec.hosts', ['one', 'two', 'three'], ADDED],
  ['an item added by its value', 'spec.hosts[="three"]', 'three', ADDED],
  [
    'a removed item',
    'spec.hosts[="one"]',
    undefined,
    { 'apps/web/setters.yaml': ['-    - one'], 'apps/web/route.yaml': ['-    - one'] },
  ],
  [
    'a changed item',
    'spec.hosts[1]',
    'other',
    {
      'apps/web/setters.yaml': ['-    - two', '+    - other'],
      'apps/web/route.yaml': ['-    - two', '+    - other'],
    },
  ],
  [
    'a list on one line',
    'spec.zones',
    ['east', 'west', 'north'],
    {
      'apps/web/setters.yaml': ['-  zones: "[east, west]"', '+  zones: "[east, west, north]"'],
      'apps/web/route.yaml': ['+    - north'],
    },
  ],
  [
    'the removed last item',
    'metadata.finalizers[="only"]',
    undefined,
    {
      'apps/web/setters.yaml': ['-  last: |', '-    - only', '+  last: ""'],
      'apps/web/route.yaml': [
        '-  finalizers: # kpt-set: ${last}',
        '-    - only',
        '+  finalizers: [] # kpt-set: ${last}',
      ],
    },
  ],
  [
    'an atomic map around the list',
    'spec',
    { hosts: ['one', 'two', 'three'], zones: ['east', 'west'] },
    ADDED,
  ],
]

for (const [name, path, live, lines] of CASES)
  test(`edits the setter of a list: ${name}`, () => {
    assert.deepEqual(adopted(LISTS, changeIn(LISTS, 'Route', path, live)), lines)
  })

test('edits a list in the manifest when a setter gives only one item', () => {
  const texts = {
    ...LISTS,
    'setters.yaml': settersConfig('  host: one\n'),
    'route.yaml':
      'apiVersion: example.com/v1\nkind: Route\nmetadata:\n  name: web\nspec:\n  hosts:\n    - one # kpt-set: ${host}\n',
  }
  assert.deepEqual(adopted(texts, changeIn(texts, 'Route', 'spec.hosts', ['one', 'two'])), {
    'apps/web/route.yaml': ['+    - two'],
  })
})
