/**
 * Objects that git declares and that are rightly not in the cluster: what runs once and is cleared away, or never runs as things are. Each
 * rule reads the manifest; one about hooks holds only where the tool that runs such hooks applies the package. Source: Kubernetes "Automatic
 * Cleanup for Finished Jobs". The rules about hooks are the syncers' (src/syncers).
 */
import { parseApiVersion } from '../../krm/resource-id.ts'
import { APPLIER_KINDS } from '../../syncers/registry.ts'
import type { BuiltInRule } from '../../syncers/syncer.ts'
import { getKey, type JsonObject, partOf } from '../../text/json.ts'

/** Which appliers run the hooks of a package. */
export interface HookRunners {
  readonly tools: ReadonlySet<string>
  /** No object shows which tool applies the package, so only the hooks in its manifests are known. */
  readonly unknown: boolean
}

/** The rule by which a declared object that is absent is rightly so; undefined where none holds. */
export function goneByDesign(manifest: JsonObject, { tools, unknown }: HookRunners): BuiltInRule | undefined {
  // Without a known tool for hooks, one that ends by itself may still be gone by design; a ServiceAccount of a hook may not.
  const perhaps = unknown && FINISHING.has(`${groupOf(manifest)}/${String(getKey(manifest, 'kind'))}`)
  const finished = finishedJob(manifest)
  if (finished !== undefined) return finished
  for (const { tool, hooks } of APPLIER_KINDS) {
    const runs = tools.has(tool)
    const gone = hooks !== 'none' && (runs || perhaps) ? hooks(manifest, runs) : undefined
    if (gone !== undefined) return gone
  }
  return undefined
}

const FINISHING = new Set(['batch/Job', '/Pod'])

function groupOf(manifest: JsonObject): string {
  return parseApiVersion(String(getKey(manifest, 'apiVersion'))).group
}

/** Its end cannot be observed any more: what is sure is that the cluster itself removes such a Job. */
function finishedJob(manifest: JsonObject): BuiltInRule | undefined {
  if (groupOf(manifest) !== 'batch' || getKey(manifest, 'kind') !== 'Job') return undefined
  const seconds = partOf(manifest, 'spec', 'ttlSecondsAfterFinished')
  if (typeof seconds !== 'number') return undefined
  const after = seconds === 1 ? '1 second' : `${seconds} seconds`
  return { rule: 'finished-job', why: `the cluster removes this Job ${after} after it finished (spec.ttlSecondsAfterFinished)` }
}
