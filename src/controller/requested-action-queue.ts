/** Requested actions between the webhook and the turn that answers them. They are in memory: a restart loses those that wait. */
import type { RequestedAction, RequestedActionSource } from '@backporch/forge/check-run'

/** Requested actions that wait at most; the oldest is dropped first. */
const CAPACITY = 200

export class RequestedActionQueue implements RequestedActionSource {
  /** By id, oldest first: one that is repeated while it waits is one. */
  private readonly requestedActions = new Map<string, RequestedAction>()

  add(requestedAction: RequestedAction): void {
    if (this.requestedActions.has(requestedAction.id)) return
    this.requestedActions.set(requestedAction.id, requestedAction)
    for (const id of this.requestedActions.keys()) {
      if (this.requestedActions.size <= CAPACITY) break
      this.requestedActions.delete(id)
    }
  }

  waiting(): readonly RequestedAction[] {
    return [...this.requestedActions.values()]
  }

  answered({ id }: RequestedAction): void {
    this.requestedActions.delete(id)
  }
}
