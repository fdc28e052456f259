/** What every command that looks at a cluster does first: opens the ports, makes the request, and closes them again. */
import type { RedactionKey } from '../krm/redacted.ts'
import type { TurnPorts, TurnRequest } from '../reconcile/run-turn.ts'
import { oneLine } from '../record/one-line.ts'
import { type CommonOptions, clusterTarget, Progress } from './options.ts'
import { packagesNamed, type SelectionOptions } from './selection-flags.ts'
import { traceTo } from './verbose.ts'
import type { World } from './world.ts'

export interface Session {
  readonly ports: TurnPorts
  readonly request: TurnRequest
  readonly key: RedactionKey
  readonly progress: Progress
}

/** Runs `work` with open ports; the cluster's connection is closed whatever happens. */
export async function withSession(
  world: World,
  options: CommonOptions & Pick<SelectionOptions, 'package' | 'selector'>,
  packages: readonly string[],
  work: (session: Session) => Promise<number>,
  /** `not-asked`: the command reads no reviews, so no forge is spoken to. */
  review: 'asked' | 'not-asked' = 'asked',
): Promise<number> {
  const progress = new Progress(world, options)
  const trace = traceTo(world, options)
  const target = { ...clusterTarget(options), trace }
  // The repository first: without one there is nothing to ask a cluster about.
  const baseBranch = await baseBranchOf(world, options)
  const cluster = await world.openCluster(target)
  try {
    const { key, created, path } = await world.loadKey()
    if (created && options.quiet !== true) {
      world.stderr.write(
        `made the installation key ${path}: set BACKPORCH_KEY where scans run on new machines, so that decisions are recognised\n`,
      )
    }
    const repository = await world.openRepository(options.repo, baseBranch, trace)
    const request: TurnRequest = {
      branch: options.branch,
      packages: packagesNamed(packages, options),
      labels: options.selector,
      wish: undefined,
      dryRun: false,
      fieldManager: options.fieldManager,
      key,
      bot: { email: world.botEmail },
      version: world.version,
      onProgress: progress.step,
    }
    const forge = await world.openForge(repository, {
      remote: options.repo,
      kind: review === 'not-asked' ? 'local' : options.forge,
      note: (text) => (options.quiet === true ? undefined : world.stderr.write(`note: ${oneLine(text, 300)}\n`)),
      trace,
    })
    return await work({ ports: { repository, cluster: cluster.reader, forge }, request, key, progress })
  } finally {
    progress.end()
    cluster.close()
  }
}

/** The branch that a push may move: the one given, else the remote's default. */
async function baseBranchOf(world: World, options: CommonOptions): Promise<string | undefined> {
  const { defaultBranch } = await (await world.openRepository(options.repo, undefined, traceTo(world, options))).refs(world.signal)
  return options.branch ?? (defaultBranch === '' ? undefined : defaultBranch)
}
