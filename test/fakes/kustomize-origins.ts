/** What is told of a field of an object that kustomize built from files given here; nothing is built. */
import assert from 'node:assert/strict'
import type { DesiredResource, SourceLocation } from '@backporch/kpt/desired-set'
import { readResource } from '@backporch/kyaml/resource'
import type { SyncerBuild } from '../../src/sources/build/built-source.ts'
import { KustomizeOrigins } from '../../src/sources/kustomize/origins/kustomize-origins.ts'
import { formatBuiltOriginLines } from '../../src/sources/kustomize/origins/origin-lines.ts'
import { path } from './live-object.ts'
import { yaml } from './turn-world.ts'

type Texts = { readonly [path: string]: string }

export function built(text: string, location: Partial<SourceLocation> = {}): DesiredResource {
  const read = readResource(yaml(text))
  if ('problem' in read) throw new TypeError(read.problem)
  return {
    ...read,
    location: { path: 'base/web.yaml', document: 0, item: undefined, line: 1, ...location },
  }
}

/** What is told of a field of the first one. */
export function originLinesIn(
  texts: Texts,
  at: string,
  ...resources: readonly [DesiredResource, ...DesiredResource[]]
): readonly string[] {
  return syncedOriginLines(undefined, texts, at, resources)
}

/** The same in a folder that a syncer builds. */
export function syncedOriginLines(
  synced: SyncerBuild | undefined,
  texts: Texts,
  at: string,
  resources: readonly [DesiredResource, ...DesiredResource[]],
): readonly string[] {
  const files = new Map(
    Object.entries({ ...BASE, ...texts }).map(([file, text]) => [
      file,
      { path: file, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
  const origin = new KustomizeOrigins({ folder: 'prod', files, synced, resources }).findOrigin(
    resources[0],
    path(at),
  )
  assert.ok(origin !== undefined)
  return formatBuiltOriginLines(origin)
}

export const MANIFEST = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
        env:
        - {name: A, value: "1"}
        - {name: B, value: "2"}
`
const BASE = { 'base/kustomization.yaml': 'resources: [web.yaml]\n', 'base/web.yaml': MANIFEST }
export const OVERLAY = 'resources: [../base]\n'
export const MERGE =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n'
export const manifestWith = (from: string, to: string): DesiredResource =>
  built(MANIFEST.replace(from, to))
export const IMAGE = 'spec.template.spec.containers[name=app].image'
export const env = (name: string) =>
  `spec.template.spec.containers[name=app].env[name=${name}].value`
