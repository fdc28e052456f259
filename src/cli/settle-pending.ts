/** `settle: backporch`: the writes that merged commits authorise, after `approve` and, where that was cut short, in `scan`. */
import { type PendingSettle, settleByWriting } from '../reconcile/settle.ts'
import { type CommonOptions, clusterTarget } from './options.ts'
import { Terminal } from './terminal.ts'
import type { Session } from './turn-session.ts'
import type { World } from './world.ts'

/** Opens a connection that can write only when there is something to write. */
export async function settlePending(
  pending: readonly PendingSettle[],
  session: Session,
  options: CommonOptions,
  world: World,
): Promise<void> {
  if (pending.length === 0) return
  const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
  const { writer, close } = await world.openWriter(clusterTarget(options))
  try {
    for (const { packagePath, record, commit } of pending) {
      const request = { ...session.request, packages: [packagePath || '.'] }
      const sent = await settleByWriting(session.ports, writer, request, record, commit, world.signal)
      session.progress.end()
      if (options.output === 'json' || options.output === 'yaml') continue
      const ok = terminal.style(terminal.glyph('ok'), 'green')
      const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore').length
      const writes = `${sent} ${sent === 1 ? 'write' : 'writes'}`
      world.stdout.write(
        `${ok} sent ${writes} to ${session.ports.cluster.name} for ${restored} approved ${restored === 1 ? 'change' : 'changes'} (${record.metadata.name})\n`,
      )
    }
  } finally {
    close()
  }
}
