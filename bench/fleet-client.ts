/** Follows many clusters with the controller's watch and its verdicts on their objects. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterWatch } from '@backporch/cluster/cluster-watch'
import { type ConnectedCluster, connectCluster } from '@backporch/cluster/connect-cluster'
import type { JsonObject } from '@backporch/kyaml/json'
import { createRedactionKey } from '@backporch/kyaml/redaction'
import { systemClock } from '../src/adapters/system/system-clock.ts'
import { ClusterFollower } from '../src/reconcile/observe/verdicts/cluster-follower.ts'
import {
  ClusterVerdicts,
  type StoredVerdicts,
} from '../src/reconcile/observe/verdicts/cluster-verdicts.ts'
import { VerdictTable } from '../src/reconcile/observe/verdicts/verdict-table.ts'
import { kubeconfig } from '../test/controlplane/kubeconfig.ts'
import type { Credential } from '../test/controlplane/test-authority.ts'
import { answerQuestions, cpuSeconds, settledMemory } from './fleet-messages.ts'
import { epochsOf, keepInSync } from './in-sync.ts'

interface Setup {
  readonly folder: string
  readonly port: number
  readonly authority: string
  readonly credential: Credential
  /** As the server sends them, by unit. */
  readonly units: Readonly<Record<string, readonly JsonObject[]>>
}

interface Followed {
  readonly cluster: ConnectedCluster
  readonly watch: ClusterWatch
  readonly verdicts: ClusterVerdicts
}

const KIND = { apiVersion: 'v1', kind: 'ConfigMap', namespace: '', metadataOnly: false }
const PATIENCE = 600_000
const key = createRedactionKey(new Uint8Array(32).fill(7))
const fleet: Followed[] = []
let setup: Setup | undefined
let stored: { readonly bytes: Uint8Array; readonly rest: string } | undefined
let changes = 0

function countChange(): void {
  changes += 1
}

/** As a controller reads it from a file at its start: every cluster has its own copy. */
function verdictsOf(): ClusterVerdicts {
  if (stored === undefined) throw new Error('not set up')
  const table = VerdictTable.parseBytes(stored.bytes)
  if (table === undefined) throw new Error('no table')
  const rest = JSON.parse(stored.rest) as Pick<StoredVerdicts, 'units' | 'scopes'>
  return epochsOf(new ClusterVerdicts(key, Math.random, { table, ...rest }))
}

function add(number: number): void {
  if (setup === undefined) throw new Error('not set up')
  const { folder, port, authority, credential } = setup
  const file = join(folder, `${number}.kubeconfig`)
  writeFileSync(
    file,
    kubeconfig(`https://127.0.0.1:${port}/c/${number}`, authority, 'admin', credential),
  )
  const cluster = connectCluster({
    kubeconfig: file,
    name: `cluster-${number}`,
    environment: {},
    clock: systemClock,
    version: 'bench',
  })
  const verdicts = verdictsOf()
  const follower = new ClusterFollower({ verdicts, now: () => Date.now(), onChange: countChange })
  const watch = cluster.watch(follower)
  fleet.push({ cluster, watch, verdicts })
  watch.follow([KIND])
}

async function untilWatching(isIt: (followed: Followed) => boolean): Promise<void> {
  const end = performance.now() + PATIENCE
  while (!fleet.every(isIt)) {
    if (performance.now() > end)
      throw new Error(`${fleet.filter((one) => !isIt(one)).length} clusters are not watched`)
    await sleep(100)
  }
}

function isWatching({ watch }: Followed): boolean {
  return watch.state()[0]?.state === 'watching'
}

async function measured<Extra>(work: () => Promise<Extra>) {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const [cpu, began] = [cpuSeconds(), performance.now()]
  const extra = await work()
  const seconds = (performance.now() - began) / 1000
  delay.disable()
  const peak = process.memoryUsage().rss
  return {
    seconds,
    cpu: cpuSeconds() - cpu,
    longestPause: delay.max / 1e6,
    peak,
    memory: await settledMemory(),
    changes,
    extra,
  }
}

answerQuestions({
  setUp: async (given: Setup) => {
    setup = given
    const verdicts = epochsOf(new ClusterVerdicts(key, Math.random, undefined))
    for (const [unit, objects] of Object.entries(given.units))
      keepInSync(verdicts, unit, objects, Date.now())
    const { table, units, scopes } = verdicts.stored
    stored = { bytes: table.convertToBytes(), rest: JSON.stringify({ units, scopes }) }
    return { memory: await settledMemory(), rows: table.size }
  },
  grow: (count: number) =>
    measured(async () => {
      for (let number = fleet.length; number < count; number += 1) {
        add(number)
        // A controller opens its clusters one after the other too.
        await sleep(0)
      }
      await untilWatching(isWatching)
    }),
  idle: (seconds: number) => measured(() => sleep(seconds * 1000)),
  /** After all sessions were dropped. */
  recover: (sessionsBefore: number) =>
    measured(async () => {
      const opened = (): number =>
        fleet.reduce((sum, { watch }) => sum + (watch.state()[0]?.reopened ?? 0), 0)
      while (opened() < sessionsBefore) await sleep(100)
      await untilWatching(isWatching)
    }),
  reopened: () => fleet.reduce((sum, { watch }) => sum + (watch.state()[0]?.reopened ?? 0), 0),
})
