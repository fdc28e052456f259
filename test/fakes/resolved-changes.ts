/** Changes of a package, each with what git has, what is live and its resolution. */
import assert from 'node:assert/strict'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { answerCalls, type FunctionLibrary, NO_FUNCTIONS } from '@backporch/kpt/function'
import { findValueAt } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import type { Drift, Resolution } from '../../src/drift/compare/drift.ts'
import type { ResolvedChange } from '../../src/sources/edits/resolution-edits.ts'
import { renderPackage } from '../../src/sources/kpt/render/render-package.ts'
import { driftOf } from './drift-samples.ts'
import { path } from './live-object.ts'
import { filesOf } from './pipeline-files.ts'
import { CONFIG, DEPLOYMENT, KPTFILE } from './turn-world.ts'

const SECRET =
  'apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {user: YQ==}\n'

export const PACKAGE = {
  Kptfile: KPTFILE,
  'deployment.yaml': DEPLOYMENT,
  'all.yaml': `${CONFIG}---\n${CONFIG.replace('name: web', 'name: other')}`,
  'secret.yaml': SECRET,
}

export function desiredIn(
  texts: { readonly [path: string]: string },
  kind: string,
  name: string,
  functions: FunctionLibrary = NO_FUNCTIONS,
): DesiredResource {
  const rendering = answerCalls(renderPackage('apps/web', filesOf(texts)), functions)
  assert.ok('desired' in rendering)
  const found = rendering.desired.resources.find(({ id }) => id.kind === kind && id.name === name)
  assert.ok(found !== undefined)
  return found
}

interface ChangeSample {
  readonly kind: string
  readonly name: string
  readonly field: string
  readonly live: Json | undefined
  readonly resolution: Resolution
  readonly more?: Partial<Drift>
}

export function changeIn(
  texts: { readonly [path: string]: string },
  { kind, name, field, live, resolution, more }: ChangeSample,
  functions: FunctionLibrary = NO_FUNCTIONS,
): ResolvedChange {
  const desired = desiredIn(texts, kind, name, functions)
  const git = findValueAt(desired.object, path(field || 'none'))
  const change = live === undefined ? 'removed' : git === undefined ? 'added' : 'modified'
  return {
    desired,
    resolution,
    drift: { ...driftOf(field), id: desired.id, git, live, change, ...more },
  }
}
