/** Gets what the tests of a run need: programs, built where they are not there, and the servers that all tests share. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findAppliers } from '../appliers/appliers.ts'
import { findArgo } from '../argo/programs.ts'
import { startForRun } from '../controlplane/start-for-run.ts'
import { findFlux } from '../flux/find-flux.ts'
import { startGiteaForRun } from '../gitea/start-for-run.ts'
import { findHelm } from '../helm/find-helm.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { TEST_PROGRAM } from '../program.ts'
import { findPrometheus } from '../prometheus/find-prometheus.ts'
import { findSops } from '../sops/find-sops.ts'
import type { Need } from './tiers.ts'

/** `coming`, `there`, or why it cannot be had on this machine. */
export type NeedState = { readonly state: 'coming' | 'there' } | { readonly state: 'missing'; readonly why: string }

export interface Needs {
  stateOf(need: Need): NeedState
  /** Variables for the processes of the tests, as far as they are known. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends the servers. */
  stop(): Promise<void>
}

interface NeedsOptions {
  readonly root: string
  /** A folder for this run. */
  readonly scratch: string
  readonly report: (message: string) => void
  readonly changed: () => void
}

interface Found {
  readonly state?: never
  readonly environment?: Readonly<Record<string, string>>
  readonly stop?: () => Promise<void>
}

type Getter = (options: NeedsOptions) => Promise<Found | { readonly state: 'unavailable'; readonly why: string }>

const GETTERS: Readonly<Record<Need, Getter>> = {
  bundle: async ({ root, scratch }) => {
    await promisify(execFile)(process.execPath, [join(root, '.ci', 'bundle.ts'), scratch])
    return { environment: { [TEST_PROGRAM]: join(scratch, 'backporch.mjs') } }
  },
  kpt: async () => {
    const why = await whyNoKpt()
    return why ? { state: 'unavailable' as const, why } : {}
  },
  'control plane': async ({ report }) => {
    const started = await startForRun({ report })
    return started.state === 'unavailable' ? started : { environment: started.environment, stop: () => started.stop() }
  },
  Gitea: async ({ report }) => {
    const started = await startGiteaForRun({ report })
    return started.state === 'unavailable' ? started : { environment: started.environment, stop: () => started.stop() }
  },
  appliers: ({ report }) => programOf(findAppliers({ report })),
  Helm: ({ report }) => programOf(findHelm(process.env, report)),
  SOPS: ({ report }) => programOf(findSops(process.env, report)),
  Prometheus: ({ report }) => programOf(findPrometheus({ report })),
  Flux: ({ report }) => programOf(findFlux(['source-controller', 'kustomize-controller', 'helm-controller'], { report })),
  'Argo CD': () => programOf(findArgo({ build: true })),
}

async function programOf(found: Promise<{ state: 'ready' } | { state: 'unavailable'; why: string }>): ReturnType<Getter> {
  const answer = await found
  return answer.state === 'ready' ? {} : answer
}

/** Begins to get all of them at once. Never rejects: what cannot be had is `missing`. */
export function getNeeds(needs: Iterable<Need>, options: NeedsOptions): Needs {
  const states = new Map<Need, NeedState>()
  const environment: Record<string, string> = {}
  const get = async (need: Need): Promise<Found['stop']> => {
    try {
      const found = await GETTERS[need](options)
      if (found.state !== undefined) states.set(need, { state: 'missing', why: found.why })
      else {
        Object.assign(environment, found.environment)
        states.set(need, { state: 'there' })
        return found.stop
      }
    } catch (thrown) {
      states.set(need, { state: 'missing', why: thrown instanceof Error ? thrown.message : String(thrown) })
    } finally {
      options.changed()
    }
    return undefined
  }
  const all = [...needs].map((need) => {
    states.set(need, { state: 'coming' })
    return get(need)
  })
  return {
    environment,
    stateOf: (need) => states.get(need) ?? { state: 'missing', why: `nothing gets ${need}` },
    stop: async () => void (await Promise.all(all.map(async (stop) => (await stop)?.()))),
  }
}
