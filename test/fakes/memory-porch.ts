/** What a Porch server does to a repository in memory when its users decide (docs/facts/porch-decisions.md). */
import type { ObjectId } from '@backporch/kyaml/files'
import type { MemoryRepository } from './memory-repository.ts'

const USER = 'admin@example.com'

export interface MemoryApproval {
  /** The commit that it has in its cache; the branch's own unless given. */
  readonly cached?: ObjectId
  /** Number of the revision; one more than the highest unless given. */
  readonly revision?: number
  /** As with the database cache: commits of its own, and the branch stays. */
  readonly copies?: boolean
}

export class MemoryPorch {
  private readonly repository: MemoryRepository

  constructor(repository: MemoryRepository) {
    this.repository = repository
  }

  /** Workspaces of the package in this state. */
  workspaces(state: 'drafts' | 'proposed', packagePath: string): string[] {
    const prefix = `${state}/${packagePath}/`
    return this.repository
      .names()
      .flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  }

  /** `rpkg propose` */
  propose(packagePath: string, workspace: string, rendered = false): void {
    if (rendered) this.render(packagePath, workspace)
    this.rename(`drafts/${packagePath}/${workspace}`, `proposed/${packagePath}/${workspace}`)
  }

  /** Renders a draft, as before it is proposed and after a push. @param also other files that the commit changes, which Porch does not do */
  render(
    packagePath: string,
    workspace: string,
    also: { readonly [path: string]: string } = {},
  ): void {
    const branch = `drafts/${packagePath}/${workspace}`
    const task = {
      package: packagePath,
      workspaceName: workspace,
      revision: '0',
      task: { type: 'render' },
    }
    const path = `${packagePath}/Kptfile`
    const rendered = '{type: Rendered, status: "True", reason: RenderSuccess}'
    const before = this.repository.text(branch, path) ?? ''
    const text = before.replace(
      /^( *conditions:\n)( *- )/m,
      (_, key: string, dash: string) => `${key}${dash}${rendered}\n${dash}`,
    )
    const message = `Rendering package\n\nkpt:${JSON.stringify(task)}\n`
    this.repository.commitByHand(branch, { [path]: text, ...also }, { author: USER, message })
  }

  /** `rpkg reject` */
  reject(packagePath: string, workspace: string): void {
    this.rename(`proposed/${packagePath}/${workspace}`, `drafts/${packagePath}/${workspace}`)
  }

  /** `rpkg approve` @returns the tagged commit */
  approve(
    packagePath: string,
    workspace: string,
    { cached, revision, copies = false }: MemoryApproval = {},
  ): ObjectId {
    const { repository } = this
    const branch = `proposed/${packagePath}/${workspace}`
    const number = revision ?? this.highest(packagePath) + 1
    const head = cached ?? repository.head(branch)
    const main = repository.head('main')
    const line = (text: string) =>
      `kpt:${JSON.stringify({ package: packagePath, workspaceName: workspace, revision: text })}`
    repository.branches.set('refs/heads/cached', head)
    const files = this.folderOf('cached', packagePath)
    repository.branches.delete('refs/heads/cached')
    const before = this.folderOf('main', packagePath)
    const changes = Object.fromEntries([
      ...[...before.keys()].map((path) => [path, null] as const),
      ...files,
    ])
    let merged = head
    if (copies) {
      repository.branches.set('refs/heads/copy', main)
      merged = repository.commitByHand('copy', changes, {
        author: USER,
        message: `Creating new revision by copying previous revision\n\n${line('0')}\n`,
      })
      repository.branches.delete('refs/heads/copy')
    }
    const message = `Approving package revision ${packagePath}/${number}\n\n${line(String(number))}\n`
    const commit = repository.commitByHand('main', changes, {
      author: USER,
      parents: [main, merged],
      message,
    })
    repository.branches.set(`refs/tags/${packagePath}/v${number}`, commit)
    if (!copies) repository.branches.delete(`refs/heads/${branch}`)
    return commit
  }

  private highest(packagePath: string): number {
    const numbers = this.repository
      .names()
      .map((name) =>
        name.startsWith(`${packagePath}/v`) ? Number(name.slice(packagePath.length + 2)) : 0,
      )
    return Math.max(0, ...numbers)
  }

  private folderOf(branch: string, packagePath: string): Map<string, string> {
    const paths = this.repository.paths(branch).filter((path) => path.startsWith(`${packagePath}/`))
    return new Map(paths.map((path) => [path, this.repository.text(branch, path) ?? '']))
  }

  private rename(from: string, to: string): void {
    this.repository.branches.set(`refs/heads/${to}`, this.repository.head(from))
    this.repository.branches.delete(`refs/heads/${from}`)
  }
}
