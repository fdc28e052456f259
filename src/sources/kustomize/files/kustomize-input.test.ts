import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRenamedByKustomize } from './kustomize-input.ts'

const renamed = (text: string, path = 'kustomization.yaml') =>
  findRenamedByKustomize([{ path, mode: '100644', content: new TextEncoder().encode(text) }])

test('a kustomization that only lists and patches files keeps object names', () => {
  assert.equal(renamed('resources:\n- deployment.yaml\n- service.yaml\npatches: []\n'), undefined)
  assert.equal(renamed('namePrefix: a\n', 'docs.yaml'), undefined)
  assert.equal(renamed('namePrefix: a\n', 'base/kustomization.yaml'), undefined)
  assert.equal(findRenamedByKustomize([]), undefined)
})

test('reports a field that renames, creates or imports objects', () => {
  assert.equal(renamed('namePrefix: eu-\n'), 'namePrefix')
  assert.equal(
    renamed('resources: []\nconfigMapGenerator:\n- name: a\n', 'kustomization.yml'),
    'configMapGenerator',
  )
  assert.equal(renamed('resources:\n- ../base\n'), 'resources from elsewhere')
  assert.equal(renamed('resources:\n  - https://example.com/base\n'), 'resources from elsewhere')
  assert.equal(
    renamed('resources:\n- github.com/example/base?ref=v1\n'),
    'resources from elsewhere',
  )
})
