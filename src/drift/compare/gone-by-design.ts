/**
 * They run once and are deleted, or never run. Hook rules are in src/syncers and hold if the tool
 * that runs the hooks applies the package. Source: Kubernetes "Automatic Cleanup for Finished
 * Jobs".
 */
import { getKey, getPartAt, type JsonObject } from '@backporch/kyaml/json'
import { parseApiVersion } from '@backporch/kyaml/resource'
import { APPLIER_KINDS } from '../../syncers/registry.ts'
import type { BuiltInRule } from '../../syncers/syncer.ts'

export interface HookRunners {
  readonly tools: ReadonlySet<string>
  readonly unknown: boolean
}

export function findGoneByDesignRule(
  manifest: JsonObject,
  { tools, unknown }: HookRunners,
): BuiltInRule | undefined {
  // Without a known applier only kinds that finish may be absent by design.
  const perhaps =
    unknown && FINISHING.has(`${readGroup(manifest)}/${String(getKey(manifest, 'kind'))}`)
  const finished = findFinishedJobRule(manifest)
  if (finished !== undefined) return finished
  for (const { tool, hooks } of APPLIER_KINDS) {
    const runs = tools.has(tool)
    const gone = hooks !== 'none' && (runs || perhaps) ? hooks(manifest, runs) : undefined
    if (gone !== undefined) return gone
  }
  return undefined
}

const FINISHING = new Set(['batch/Job', '/Pod'])

function readGroup(manifest: JsonObject): string {
  return parseApiVersion(String(getKey(manifest, 'apiVersion'))).group
}

function findFinishedJobRule(manifest: JsonObject): BuiltInRule | undefined {
  if (readGroup(manifest) !== 'batch' || getKey(manifest, 'kind') !== 'Job') return undefined
  const seconds = getPartAt(manifest, 'spec', 'ttlSecondsAfterFinished')
  if (typeof seconds !== 'number') return undefined
  const after = seconds === 1 ? '1 second' : `${seconds} seconds`
  return {
    rule: 'finished-job',
    why: `the cluster removes this Job ${after} after it finished (spec.ttlSecondsAfterFinished)`,
  }
}
