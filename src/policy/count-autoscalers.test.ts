import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Resource, readResource } from '@backporch/kyaml/resource'
import { countAutoscalers } from './count-autoscalers.ts'

function resource(apiVersion: string, kind: string, name: string): Resource {
  const read = readResource({ apiVersion, kind, metadata: { name, namespace: 'shop' } })
  assert.ok('id' in read)
  return read
}

test('counts autoscalers by kind, without kinds of another group or of no group', () => {
  const found = [
    resource('keda.sh/v1alpha1', 'ScaledObject', 'a'),
    resource('autoscaling/v2', 'HorizontalPodAutoscaler', 'a'),
    resource('autoscaling/v2', 'HorizontalPodAutoscaler', 'b'),
    resource('example.com/v1', 'VerticalPodAutoscaler', 'a'),
  ]
  assert.deepEqual(countAutoscalers(found), [
    { word: 'HPA', count: 2 },
    { word: 'ScaledObject', count: 1 },
  ])
})
