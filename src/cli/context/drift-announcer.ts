/** A connection is opened for its first Event. */
import type { DriftEvent, OpenedDriftEvents } from '@backporch/cluster/drift-events'
import { convertToFailure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import type { CliContext, ClusterTarget } from './cli-context.ts'

export class DriftAnnouncer {
  private readonly cli: Pick<CliContext, 'openDriftEvents'>
  private readonly targets: ReadonlyMap<string, ClusterTarget>
  private readonly opened = new Map<string, OpenedDriftEvents>()

  constructor(
    cli: Pick<CliContext, 'openDriftEvents'>,
    targets: ReadonlyMap<string, ClusterTarget>,
  ) {
    this.cli = cli
    this.targets = targets
  }

  /** Never throws. */
  readonly write = async (
    events: ReadonlyMap<string, readonly DriftEvent[]>,
    signal: AbortSignal,
  ): Promise<readonly Note[]> =>
    (
      await Promise.all([...events].map(([cluster, own]) => this.writeOne(cluster, own, signal)))
    ).flat()

  close(): void {
    for (const one of this.opened.values()) one.close()
    this.opened.clear()
  }

  private async writeOne(
    cluster: string,
    events: readonly DriftEvent[],
    signal: AbortSignal,
  ): Promise<readonly Note[]> {
    try {
      const target = this.targets.get(cluster)
      if (target === undefined) return []
      const opened = this.opened.get(cluster) ?? (await this.cli.openDriftEvents(target))
      this.opened.set(cluster, opened)
      return await opened.events.write(events, signal)
    } catch (thrown) {
      const { what, why } = convertToFailure(thrown)
      return [
        {
          cause: 'events-not-written',
          subject: cluster,
          text: `Events are not written: ${what}: ${why}`,
        },
      ]
    }
  }
}
