/** Counts by kind how many objects in sync are proven without their own request, and why the rest is not. It measures no times. */
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import { getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { getResourceKey, type Resource, readResource } from '@backporch/kyaml/resource'
import { explainUnprovenOwnership } from '../src/drift/compare/ownership-proof.ts'
import { startControlPlane } from '../test/controlplane/start-control-plane.ts'
import type { BenchOptions } from './prepare.ts'
import { prepareBench, SYNCER } from './prepare.ts'
import { formatShares, type KindShare } from './shares.ts'

/** @returns a section of Markdown, without its heading. Rejects where no API server can be run. */
export async function benchCost(
  options: BenchOptions,
  report: (line: string) => void,
): Promise<string> {
  const plane = await startControlPlane()
  if (plane.state === 'unavailable') throw new Error(plane.why)
  let folder = ''
  try {
    report(`applying ${options.objects} objects`)
    const bench = await prepareBench(plane, options)
    folder = bench.folder
    const clock = {
      now: () => new Date(),
      sleep: (ms: number, signal?: AbortSignal) =>
        sleep(ms, undefined, signal === undefined ? {} : { signal }),
    }
    const { reader, close } = await connectCluster({
      kubeconfig: plane.kubeconfig,
      environment: {},
      clock,
      version: 'bench',
    })
    const signal = new AbortController().signal
    const resources = bench.packages.flatMap(({ objects }) =>
      objects.map((object) => resourceOf(object as unknown as JsonObject)),
    )
    const live = await reader.readLive(resources, signal)
    const shares = new Map<string, KindShare>()
    for (const { id, apiVersion, object } of resources) {
      const state = live.get(getResourceKey(id))
      if (state?.state !== 'present') throw new Error(`${getResourceKey(id)} is not there`)
      const { schema } = await reader.findServedKind(apiVersion, id.kind, signal)
      const syncer = { manager: SYNCER, operation: 'Apply', subresource: '' } as const
      const managed = getManagedFields(state.object)
      const why = explainUnprovenOwnership({
        apiVersion,
        desired: object,
        live: state.object,
        managed,
        schema,
        syncer,
      })
      const share = shares.get(id.kind) ?? {
        kind: id.kind,
        objects: 0,
        reasons: new Map<string, number>(),
      }
      share.objects += 1
      if (why !== undefined) share.reasons.set(why, (share.reasons.get(why) ?? 0) + 1)
      shares.set(id.kind, share)
    }
    close()
    const { body } = await plane.request<{ gitVersion: string }>('GET', '/version')
    return [
      formatShares([...shares.values()]),
      `${resources.length} objects, all in sync; kube-apiserver ${body.gitVersion}.`,
    ].join('\n')
  } finally {
    await plane.stop()
    if (folder !== '') rmSync(folder, { recursive: true, force: true })
  }
}

function resourceOf(object: JsonObject): Resource {
  const resource = readResource(object)
  if ('problem' in resource) throw new Error(resource.problem)
  return resource
}
