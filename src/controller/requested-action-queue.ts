/** In memory only: a restart loses waiting ones. */
import type { RequestedAction, RequestedActionSource } from '@backporch/forge/check-run'

/** The oldest is dropped first. */
const CAPACITY = 200

export class RequestedActionQueue implements RequestedActionSource {
  /** A repeated waiting action counts once. */
  private readonly requestedActions = new Map<string, RequestedAction>()

  add(requestedAction: RequestedAction): void {
    if (this.requestedActions.has(requestedAction.id)) return
    this.requestedActions.set(requestedAction.id, requestedAction)
    for (const id of this.requestedActions.keys()) {
      if (this.requestedActions.size <= CAPACITY) break
      this.requestedActions.delete(id)
    }
  }

  listWaiting(): readonly RequestedAction[] {
    return [...this.requestedActions.values()]
  }

  removeAnswered({ id }: RequestedAction): void {
    this.requestedActions.delete(id)
  }
}
