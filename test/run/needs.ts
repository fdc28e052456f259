/** Gets what the tests of a run need: programs, built where they are not there, and the servers that all tests share. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startForRun } from '../controlplane/start-for-run.ts'
import { startGiteaForRun } from '../gitea/start-for-run.ts'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { TEST_PROGRAM } from '../program.ts'
import { buildPrograms, type ProgramBuilds } from '../programs/build-programs.ts'
import { PROGRAMS, type ProgramName } from '../programs/programs.ts'
import { findPrometheus } from '../prometheus/find-prometheus.ts'
import { findSops } from '../sops/find-sops.ts'
import type { Need } from './tiers.ts'

/** `coming`, `there`, or why it cannot be had on this machine. */
export type NeedState =
  | { readonly state: 'coming' | 'there' }
  | { readonly state: 'missing'; readonly why: string }

export interface Needs {
  stateOf(need: Need): NeedState
  /** Variables for the processes of the tests, as far as they are known. */
  readonly environment: Readonly<Record<string, string>>
  /** What is being built; undefined where nothing is. */
  buildProgress(): string | undefined
  /** Ends the servers. */
  stop(): Promise<void>
}

interface NeedsOptions {
  readonly root: string
  /** A folder for this run. */
  readonly scratch: string
  readonly report: (message: string) => void
  readonly changed: () => void
  /** Ends the builds. */
  readonly signal: AbortSignal
}

interface Found {
  readonly state: 'ready'
  readonly environment?: Readonly<Record<string, string>>
  readonly stop?: () => Promise<void>
}

type Answer = Found | { readonly state: 'unavailable'; readonly why: string }

const READY: Found = { state: 'ready' }

interface Getter {
  /** What is built first. */
  readonly programs: readonly ProgramName[]
  get(options: NeedsOptions): Promise<Answer>
}

const GETTERS: Readonly<Record<Need, Getter>> = {
  bundle: {
    programs: [],
    get: async ({ root, scratch }) => {
      const folder = join(scratch, 'program')
      await promisify(execFile)(process.execPath, [join(root, '.ci', 'bundle.ts'), folder])
      // Worlds of tests have an empty home, where every command would compile the program again.
      const start = join(folder, 'start.mjs')
      const compiled = JSON.stringify(join(folder, 'compiled'))
      writeFileSync(
        start,
        `import { enableCompileCache } from 'node:module'\nenableCompileCache(${compiled})\nawait import('./backporch.mjs')\n`,
      )
      return { state: 'ready', environment: { [TEST_PROGRAM]: start } }
    },
  },
  kpt: {
    programs: [],
    get: async () => {
      const why = await whyNoKpt()
      return why === false ? READY : { state: 'unavailable', why }
    },
  },
  'control plane': {
    programs: process.env['KUBEBUILDER_ASSETS'] ? [] : ['controlplane'],
    get: async ({ report }) => {
      const started = await startForRun({ report })
      return started.state === 'unavailable'
        ? started
        : { ...READY, environment: started.environment, stop: () => started.stop() }
    },
  },
  Gitea: {
    programs: ['gitea'],
    get: async ({ report }) => {
      const started = await startGiteaForRun({ report })
      return started.state === 'unavailable'
        ? started
        : { ...READY, environment: started.environment, stop: () => started.stop() }
    },
  },
  appliers: { programs: ['appliers'], get: async () => READY },
  Helm: { programs: ['helm3', 'helm4'], get: async () => READY },
  SOPS: { programs: ['sops'], get: async ({ report }) => stateOf(await findSops({ report })) },
  Prometheus: { programs: [], get: async () => stateOf(await findPrometheus()) },
  Flux: {
    programs: ['source-controller', 'kustomize-controller', 'helm-controller'],
    get: async () => READY,
  },
  'Argo CD': { programs: ['argo-generate', 'argo-helm', 'argo-kustomize'], get: async () => READY },
}

function stateOf(
  found: { readonly state: 'ready' } | { readonly state: 'unavailable'; readonly why: string },
): Answer {
  return found.state === 'ready' ? READY : found
}

/** Begins to get all of them at once; programs are built one after the other. Never rejects: what cannot be had is `missing`. */
export function getNeeds(needs: ReadonlySet<Need>, options: NeedsOptions): Needs {
  const states = new Map<Need, NeedState>()
  const environment: Record<string, string> = {}
  const needed = new Set([...needs].flatMap((need) => GETTERS[need].programs))
  // The order of the list is that of the builds.
  const builds = buildPrograms(
    (Object.keys(PROGRAMS) as ProgramName[]).filter((name) => needed.has(name)),
    options,
  )
  const get = async (need: Need): Promise<Found['stop']> => {
    try {
      const found =
        (await firstUnavailable(builds, GETTERS[need].programs)) ??
        (await GETTERS[need].get(options))
      states.set(
        need,
        found.state === 'ready' ? { state: 'there' } : { state: 'missing', why: found.why },
      )
      if (found.state === 'unavailable') return undefined
      Object.assign(environment, found.environment)
      return found.stop
    } catch (thrown) {
      states.set(need, {
        state: 'missing',
        why: thrown instanceof Error ? thrown.message : String(thrown),
      })
      return undefined
    } finally {
      options.changed()
    }
  }
  const all = [...needs].map((need) => {
    states.set(need, { state: 'coming' })
    return get(need)
  })
  return {
    environment,
    stateOf: (need) => states.get(need) ?? { state: 'missing', why: `nothing gets ${need}` },
    buildProgress: () => builds.progress()?.text,
    stop: async () => void (await Promise.all(all.map(async (stop) => (await stop)?.()))),
  }
}

async function firstUnavailable(
  builds: ProgramBuilds,
  names: readonly ProgramName[],
): Promise<Answer | undefined> {
  for (const name of names) {
    const built = await builds.ready(name)
    if (built.state === 'unavailable') return built
  }
  return undefined
}
