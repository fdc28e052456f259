/**
 * Does to a bare repository what a Porch server does when its users decide, with plain git (docs/facts/porch-decisions.md): the same commits,
 * parents, messages, tags and branches as in the repositories that a real one left behind (`fixtures`).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface PorchApproval {
  /** Number of the published revision. */
  readonly revision: number
  /** The commit that Porch has in its cache; the branch's own unless given. */
  readonly cached?: string
  /** As with the database cache: commits of Porch's own, and the branch stays. */
  readonly copies?: boolean
}

export class PorchActor {
  private readonly repository: string
  private readonly user: string

  constructor(repository: string, user = 'admin') {
    this.repository = repository
    this.user = user
  }

  /** `rpkg propose`: renames the branch, with a rendering commit on it where `rendered`. */
  propose(packagePath: string, workspace: string, rendered = false): void {
    const from = `refs/heads/drafts/${packagePath}/${workspace}`
    const head = this.git('rev-parse', from)
    const commit = rendered ? this.render(head, packagePath, workspace) : head
    this.git('update-ref', `refs/heads/proposed/${packagePath}/${workspace}`, commit)
    this.git('update-ref', '-d', from)
  }

  /** `rpkg reject` */
  reject(packagePath: string, workspace: string): void {
    const from = `refs/heads/proposed/${packagePath}/${workspace}`
    this.git(
      'update-ref',
      `refs/heads/drafts/${packagePath}/${workspace}`,
      this.git('rev-parse', from),
    )
    this.git('update-ref', '-d', from)
  }

  /** `rpkg approve`: the folder of the package becomes that of the revision, and nothing else changes. @returns the tagged commit */
  approve(
    packagePath: string,
    workspace: string,
    { revision, cached, copies = false }: PorchApproval,
  ): string {
    const branch = `refs/heads/proposed/${packagePath}/${workspace}`
    const head = cached ?? this.git('rev-parse', branch)
    const base = this.git('rev-parse', 'refs/heads/main')
    const tree = this.treeWith(base, packagePath, `${head}:${packagePath}`)
    const line = (number: string) =>
      `kpt:${JSON.stringify({ package: packagePath, workspaceName: workspace, revision: number })}`
    const merged = copies
      ? this.commit(
          tree,
          [base],
          `Creating new revision by copying previous revision\n\n${line('0')}`,
        )
      : head
    const commit = this.commit(
      tree,
      [base, merged],
      `Approving package revision ${packagePath}/${revision}\n\n${line(String(revision))}`,
    )
    this.git('update-ref', 'refs/heads/main', commit)
    this.git('update-ref', `refs/tags/${packagePath}/v${revision}`, commit)
    if (!copies) this.git('update-ref', '-d', branch)
    return commit
  }

  private render(head: string, packagePath: string, workspace: string): string {
    const kptfile = this.git('show', `${head}:${packagePath}/Kptfile`)
    const rendered = '{type: Rendered, status: "True", reason: RenderSuccess}'
    const after = kptfile.replace(
      /^( *conditions:\n)( *- )/m,
      (_, key: string, dash: string) => `${key}${dash}${rendered}\n${dash}`,
    )
    const blob = this.git('hash-object', '-w', '--stdin', { stdin: `${after}\n` })
    const tree = this.withIndex((index) => {
      this.git('read-tree', head, { index })
      this.git('update-index', '--cacheinfo', `100644,${blob},${packagePath}/Kptfile`, { index })
      return this.git('write-tree', { index })
    })
    const task = {
      package: packagePath,
      workspaceName: workspace,
      revision: '0',
      task: { type: 'render' },
    }
    return this.commit(tree, [head], `Rendering package\n\n\nkpt:${JSON.stringify(task)}`)
  }

  private treeWith(base: string, folder: string, content: string): string {
    return this.withIndex((index) => {
      this.git('read-tree', base, { index })
      this.git('rm', '-r', '--quiet', '--cached', '--ignore-unmatch', folder, { index })
      this.git('read-tree', `--prefix=${folder}/`, content, { index })
      return this.git('write-tree', { index })
    })
  }

  private withIndex<Answer>(work: (index: string) => Answer): Answer {
    const folder = mkdtempSync(join(tmpdir(), 'backporch-index-'))
    try {
      return work(join(folder, 'index'))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  private commit(tree: string, parents: readonly string[], message: string): string {
    return this.git('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), {
      stdin: `${message}\n`,
    })
  }

  private git(
    ...args: readonly (string | { readonly stdin?: string; readonly index?: string })[]
  ): string {
    const options = args.find((arg) => typeof arg === 'object') ?? {}
    const { status, stdout, stderr } = spawnSync(
      'git',
      ['-C', this.repository, ...args.filter((arg) => typeof arg === 'string')],
      {
        encoding: 'utf8',
        input: options.stdin ?? '',
        env: {
          PATH: process.env['PATH'],
          GIT_CONFIG_NOSYSTEM: '1',
          HOME: '/nowhere',
          GIT_AUTHOR_NAME: this.user,
          GIT_AUTHOR_EMAIL: this.user,
          GIT_COMMITTER_NAME: 'Package Orchestration Service',
          GIT_COMMITTER_EMAIL: 'porch@kpt.dev',
          ...(options.index === undefined
            ? {}
            : { GIT_INDEX_FILE: options.index, GIT_WORK_TREE: dirname(options.index) }),
        },
      },
    )
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }
}
