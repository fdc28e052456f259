import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceId } from '@backporch/kyaml/resource'
import { PLAIN_BUILDER } from '../../build/plain-builder.ts'
import { KUSTOMIZE_TOOL } from '../kustomize-tool.ts'
import { findVariableLocations } from './variable-locations.ts'

const TITLE = 'Flux Kustomization flux-system/apps'

function obstacles(variableSources: ReadonlyMap<string, ResourceId>) {
  const builder = {
    ...PLAIN_BUILDER,
    tool: KUSTOMIZE_TOOL,
    way: { print: () => '' },
    namespace: () => undefined,
    substitution: {
      at: ['postBuild', 'substitute'],
      variables: () => new Map([['color', 'blue']]),
      namesIn: () => ['color'],
      fill: (text: string, valueFor: (name: string) => string | undefined) =>
        text.replace('${color}', () => valueFor('color') ?? ''),
      isIn: () => true,
    },
  }
  const build = {
    title: TITLE,
    folder: 'apps',
    object: {},
    variables: new Map<string, string>(),
    variableSources,
    builder,
  }
  const texts = ['a $' + '{color} shop']
  return findVariableLocations({
    synced: { folder: 'apps', build },
    files: new Map(),
    texts,
    wanted: 'a green shop',
  }).own.obstacles
}

test('rejects a variable of substituteFrom, and names the object that sets it', () => {
  const source = { group: '', kind: 'ConfigMap', namespace: 'flux-system', name: 'settings' }
  assert.deepEqual(obstacles(new Map([['color', source]])), [
    {
      where: 'ConfigMap flux-system/settings',
      why: `the value comes from the variable color of ${TITLE}, which the ConfigMap flux-system/settings sets`,
      remedy:
        'set color in the ConfigMap flux-system/settings where that is authored, which may change other units too, or choose restore',
    },
  ])
})

test('rejects a variable set by an undeclared resource, and names its field', () => {
  assert.deepEqual(obstacles(new Map()), [
    {
      where: TITLE,
      why: `the value comes from the variable color of ${TITLE}, which no file of this repository sets`,
      remedy: `set color where it is authored (spec.postBuild of ${TITLE}), or choose restore`,
    },
  ])
})
