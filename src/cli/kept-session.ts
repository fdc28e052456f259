/** A session that outlives one turn: what its ports remember (a forge's limits and answers, a connection) serves the next one. */
import type { CommonOptions } from './flags/options.ts'
import type { SelectionOptions } from './flags/selection-flags.ts'
import { type Session, withSession } from './turn-session.ts'
import type { World } from './world.ts'

export interface KeptSession {
  readonly session: Session
  close(): Promise<void>
}

/** @throws Failure as `withSession` does before its work begins */
export function keepSession(
  world: World,
  options: CommonOptions & Pick<SelectionOptions, 'package' | 'selector'>,
  packages: readonly string[],
): Promise<KeptSession> {
  return new Promise((resolve, reject) => {
    const over: Promise<number> = withSession(world, options, packages, (session) => {
      return new Promise((release) => {
        const close = async (): Promise<void> => {
          release(0)
          await over
        }
        resolve({ session, close })
      })
    })
    over.catch(reject)
  })
}
