import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getAnnotations } from '@backporch/kyaml/resource'
import { COMMAND_TOOL } from '../command/command-tool.ts'
import { ORIGIN } from '../kustomize/files/kustomize-build.ts'
import { KUSTOMIZE_TOOL } from '../kustomize/kustomize-tool.ts'
import type { BuiltSource } from './built-source.ts'
import { parsePrintedResources } from './read-built.ts'

const PRINTED = `apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    ${ORIGIN}: |
      path: config.yaml
    team: shop
  name: web
`

function annotations(more: Partial<BuiltSource>, kustomization: string): readonly string[] {
  const path = 'apps/web/kustomization.yaml'
  const files = new Map([
    [path, { path, mode: '100644' as const, content: new TextEncoder().encode(kustomization) }],
  ])
  const source: BuiltSource = {
    packagePath: 'apps/web',
    package: [],
    tool: KUSTOMIZE_TOOL,
    folder: 'apps/web',
    files,
    command: [],
    ...more,
  }
  return parsePrintedResources(source, PRINTED).flatMap(({ object }) => [
    ...getAnnotations(object).keys(),
  ])
}

test('removes the origin of a built object, unless the kustomization or a command requested it', () => {
  assert.deepEqual(annotations({}, 'resources: [config.yaml]\n'), ['team'])
  assert.deepEqual(
    annotations({}, 'buildMetadata: [originAnnotations]\nresources: [config.yaml]\n'),
    [ORIGIN, 'team'],
  )
  assert.deepEqual(
    annotations({ tool: COMMAND_TOOL, command: ['print'] }, 'resources: [config.yaml]\n'),
    [ORIGIN, 'team'],
  )
})
