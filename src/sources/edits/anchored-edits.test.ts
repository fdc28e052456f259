import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import type { Json } from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { adopted, changeIn, refused } from '../../../test/fakes/adoption-samples.ts'
import { path } from '../../../test/fakes/live-object.ts'
import { APPLY_SETTERS, settersConfig, webKptfile } from '../../../test/fakes/pipeline-files.ts'
import { joinAnchored } from './anchored-edits.ts'

const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  first: &color blue # ours
  second: *color # the same
  third: red
`
const WEB = {
  Kptfile: webKptfile(APPLY_SETTERS),
  'setters.yaml': settersConfig('  host: shop\n'),
  'config.yaml': CONFIG,
}

const first = (live: string) => changeIn(WEB, 'ConfigMap', 'data.first', live)
const second = (live: string) => changeIn(WEB, 'ConfigMap', 'data.second', live)

test('edits an anchor whose every use drifted alike, in any order', () => {
  const lines = {
    'apps/web/config.yaml': ['-  first: &color blue # ours', '+  first: &color green # ours'],
  }
  assert.deepEqual(adopted(WEB, first('green'), second('green')), lines)
  assert.deepEqual(adopted(WEB, second('green'), first('green')), lines)
})

test('rejects an edit of an anchor with another use, and names the use', () => {
  const { why } = refused(WEB, first('green'))
  assert.match(
    why,
    /^its value comes from the anchor &color \(apps\/web\/config\.yaml:6\), and an edit there would also change data\.second of ConfigMap web$/,
  )
})

test('gives a single drifted use its own value', () => {
  const lines = {
    'apps/web/config.yaml': ['-  second: *color # the same', '+  second: green # the same'],
  }
  assert.deepEqual(adopted(WEB, second('green')), lines)
})

test('gives uses that drifted differently their own values', () => {
  const lines = {
    'apps/web/config.yaml': [
      '-  first: &color blue # ours',
      '-  second: *color # the same',
      '+  first: &color green # ours',
      '+  second: yellow # the same',
    ],
  }
  assert.deepEqual(adopted(WEB, first('green'), second('yellow')), lines)
  assert.deepEqual(adopted(WEB, second('yellow'), first('green')), lines)
})

function joined(text: string, ...edits: readonly (readonly [string, Json])[]): string {
  const all = edits.map(
    ([at, value]): YamlEdit => ({
      document: 0,
      item: undefined,
      kind: 'set',
      path: path(at),
      value,
    }),
  )
  return editYaml(text, joinAnchored(all, readYamlNodes(text, 'config.yaml')), 'config.yaml')
}

test('edits an anchor in a file without a pipeline too', () => {
  assert.equal(
    joined(CONFIG, ['data.second', 'green'], ['data.third', 'x'], ['data.first', 'green']),
    CONFIG.replace('blue', 'green').replace('red', 'x'),
  )
  assert.throws(
    () => joined(CONFIG, ['data.first', 'green']),
    (thrown) => thrown instanceof Failure && thrown.code === 'BP2007',
  )
})

const SPEC = `spec:
  base: &base
    cpu: 1 # each
    memory: 1Gi
  one:
    <<: *base
    name: one
  two: *base
  items:
  - name: x
    limits: *base
`

test('edits the value below an anchor for a merge key, an alias and a list item', () => {
  const places = ['spec.base.cpu', 'spec.one.cpu', 'spec.two.cpu', 'spec.items[name=x].limits.cpu']
  const all = places.map((place) => [place, 2] as const)
  assert.equal(joined(SPEC, ...all), SPEC.replace('cpu: 1', 'cpu: 2'))
  assert.equal(joined(SPEC, ...all.toReversed()), SPEC.replace('cpu: 1', 'cpu: 2'))
  const added = [
    'spec.base.gpu',
    'spec.one.gpu',
    'spec.two.gpu',
    'spec.items[name=x].limits.gpu',
  ].map((place) => [place, 1] as const)
  assert.equal(joined(SPEC, ...added), SPEC.replace('memory: 1Gi\n', 'memory: 1Gi\n    gpu: 1\n'))
})

test('a use that overrides the value is not a use of it', () => {
  const own = SPEC.replace('name: one', 'cpu: 7')
  const three = ['spec.base.cpu', 'spec.two.cpu', 'spec.items[name=x].limits.cpu'].map(
    (place) => [place, 2] as const,
  )
  assert.equal(joined(own, ...three), own.replace('cpu: 1', 'cpu: 2'))
})
