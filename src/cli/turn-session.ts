/** What every command that looks at a cluster does first: opens the ports, makes the request, and closes them again. */
import type { RedactionKey } from '../krm/redacted.ts'
import type { TurnPorts, TurnRequest } from '../reconcile/run-turn.ts'
import { type CommonOptions, clusterTarget, Progress } from './options.ts'
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
  options: CommonOptions,
  packages: readonly string[],
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const progress = new Progress(world, options.quiet === true || options.output === 'json' || options.output === 'yaml')
  const target = clusterTarget(options)
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
    const repository = world.openRepository(options.repo, baseBranch)
    const request: TurnRequest = {
      branch: options.branch,
      packages,
      wish: undefined,
      dryRun: false,
      fieldManager: options.fieldManager,
      key,
      bot: { email: world.botEmail },
      onProgress: progress.step,
    }
    return await work({ ports: { repository, cluster: cluster.reader, forge: world.openForge(repository) }, request, key, progress })
  } finally {
    progress.end()
    cluster.close()
  }
}

/** The branch that a push may move: the one given, else the remote's default. */
async function baseBranchOf(world: World, options: CommonOptions): Promise<string | undefined> {
  const { defaultBranch } = await world.openRepository(options.repo, undefined).refs(world.signal)
  return options.branch ?? (defaultBranch === '' ? undefined : defaultBranch)
}
