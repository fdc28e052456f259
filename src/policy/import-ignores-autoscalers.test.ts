import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../krm/json.ts'
import { type Resource, readResource } from '../krm/resource.ts'
import { findAutoscalers } from './import-ignores-autoscalers.ts'

function resource(apiVersion: string, kind: string, name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Resource {
  const read = readResource({ apiVersion, kind, metadata: { name, namespace: 'shop', ...metadata }, spec })
  assert.ok('id' in read)
  return read
}

const web = { path: 'apps/web', objects: [resource('apps/v1', 'Deployment', 'web')] }
const hpa = (name: string, target: string, metadata: JsonObject = {}, kind = 'Deployment', apiVersion = 'apps/v1'): Resource =>
  resource('autoscaling/v2', 'HorizontalPodAutoscaler', name, { scaleTargetRef: { apiVersion, kind, name: target } }, metadata)

test('the replicas of what an autoscaler scales are its own, for that object alone', () => {
  const { rules, counts } = findAutoscalers([hpa('web', 'web'), hpa('other', 'other')], [web])
  assert.deepEqual(counts, [{ word: 'HPA', count: 2 }])
  assert.deepEqual(rules, [
    {
      packages: ['apps/web'],
      rule: {
        target: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
        paths: ['spec.replicas'],
        reason: 'HorizontalPodAutoscaler shop/web scales it',
      },
    },
  ])
})

test('KEDA is named instead of the HPA that it makes; its target is a Deployment where it does not say', () => {
  const scaled = resource('keda.sh/v1alpha1', 'ScaledObject', 'web', { scaleTargetRef: { name: 'web' } })
  const made = hpa('keda-hpa-web', 'web', { ownerReferences: [{ kind: 'ScaledObject', name: 'web' }] })
  const { rules } = findAutoscalers([made, scaled], [web])
  assert.equal(rules.length, 1)
  assert.match(rules[0]?.rule.reason ?? '', /ScaledObject/)
})

test('no rule for a VPA, which changes Pods, for a kind whose replicas stand elsewhere, and for no target', () => {
  const vpa = resource('autoscaling.k8s.io/v1', 'VerticalPodAutoscaler', 'web', { targetRef: { kind: 'Deployment', name: 'web' } })
  const odd = { path: 'apps/odd', objects: [resource('example.com/v1', 'Fleet', 'odd')] }
  const { rules, counts } = findAutoscalers(
    [vpa, hpa('odd', 'odd', {}, 'Fleet', 'example.com/v1'), resource('autoscaling/v2', 'HorizontalPodAutoscaler', 'x')],
    [web, odd],
  )
  assert.deepEqual(rules, [])
  assert.deepEqual(counts, [
    { word: 'HPA', count: 2 },
    { word: 'VPA', count: 1 },
  ])
})
