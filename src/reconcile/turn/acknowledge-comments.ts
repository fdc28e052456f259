import type { Forge } from '@backporch/forge/hosted-forge'
import { Failure } from '@backporch/kyaml/failure'
import type { TurnAction } from '../../plan/turn/turn-action.ts'
import { requireHostedForge } from './forge-writer.ts'
import type { RequestObstacles } from './requests/observe-requests.ts'

/**
 * A changed or unreadable comment delays only its own proposal.
 * @returns why the turn is planned again; undefined if it continues
 */
export async function acknowledgeComments(
  { proposal: { number, label }, comments }: Extract<TurnAction, { kind: 'acknowledge' }>,
  to: Forge,
  obstacles: RequestObstacles | undefined,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (comments.length === 0) return undefined
  const forge = requireHostedForge(to)
  let obstructed: Failure | undefined
  try {
    for (const comment of comments) await forge.react(comment, 'seen', signal)
    const now = new Map(
      (await forge.readComments(number, signal)).map((comment) => [comment.id, comment]),
    )
    for (const comment of comments) {
      const found = now.get(comment.id)
      if (found?.body === comment.body && found.writer === comment.writer && !found.answered)
        continue
      obstacles?.changed.add(comment.id)
      obstructed = createCommentChangedFailure(label)
    }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || signal.aborted) throw thrown
    obstacles?.unread.set(number, thrown)
    obstructed = createCommentChangedFailure(label)
  }
  return obstructed
}

function createCommentChangedFailure(label: string): Failure {
  return new Failure({
    code: 'BP4003',
    what: 'a comment may have changed while its command was planned',
    where: label,
    why: 'somebody edited it, deleted it or answered it, or the forge does not give it any more',
    remedy: 'nothing: it is read again',
    retry: 'backoff',
  })
}
