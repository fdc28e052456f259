import { labelChanges, labelStyle } from '../adapter/our-labels.ts'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import type { GitHubClient } from './github-client.ts'

export class GitHubLabels {
  readonly #client: GitHubClient

  constructor(client: GitHubClient) {
    this.#client = client
  }

  /** Keeps people's labels. */
  async ensure(
    number: number,
    there: readonly string[],
    wanted: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { add, remove } = labelChanges(there, wanted)
    if (add.length === 0 && remove.length === 0) return
    const { octokit } = this.#client
    const target = await this.#client.getWritableTarget('label it', signal)
    if (add.length > 0) {
      await this.ensureLabels(add, signal)
      await this.#client.ask(`label #${number}`, () =>
        octokit.rest.issues.addLabels({ ...target, issue_number: number, labels: [...add] }),
      )
    }
    for (const name of remove) {
      await this.#client
        .ask(`take a label from #${number}`, () =>
          octokit.rest.issues.removeLabel({ ...target, issue_number: number, name }),
        )
        .catch((thrown: unknown) => {
          if (findRefusedStatus(thrown) !== 404) throw thrown
        })
    }
  }

  /** GitHub would create a missing label grey and without a description. */
  async ensureLabels(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { octokit } = this.#client
    const target = await this.#client.getTarget(signal)
    // Somebody may delete a label. An unchanged list costs nothing.
    const pages = (page: number) =>
      octokit.rest.issues.listLabelsForRepo({ ...target, per_page: 100, page })
    const known = new Set(
      (await this.#client.list('read the labels', pages)).map(({ name }) => name.toLowerCase()),
    )
    for (const name of names) {
      if (known.has(name.toLowerCase())) continue
      await this.#client
        .ask(`make the label ${name}`, () =>
          octokit.rest.issues.createLabel({ ...target, name, ...labelStyle(name) }),
        )
        .catch((thrown: unknown) => {
          // It exists. Other errors show when it is used.
          if (findRefusedStatus(thrown) !== 422) throw thrown
        })
    }
  }
}
