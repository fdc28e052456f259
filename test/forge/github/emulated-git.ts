/** What GitHub does in the repository itself, done by the real git in a bare repository. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

export type MergeStyle = 'merge' | 'squash' | 'rebase'

/** A file of a tree to make; `blob: null` where the base has it and the tree has not. */
export interface TreeChange {
  readonly path: string
  readonly mode: string
  readonly blob: string | null
}

export class EmulatedGit {
  readonly #folder: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #reached = new Map<string, boolean>()

  constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.#folder = folder
    this.#environment = {
      ...environment,
      GIT_COMMITTER_NAME: 'GitHub',
      GIT_COMMITTER_EMAIL: 'noreply@github.com',
    }
  }

  run(...args: readonly string[]): string {
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    return execFileSync('git', args, {
      cwd: this.#folder,
      env: this.#environment,
      encoding: 'utf8',
      stdio: [...stdio],
    }).trim()
  }

  /** Short branch names to commits. Read from the files: git itself would be started for each request. */
  branches(): Map<string, string> {
    const found = new Map<string, string>()
    const packed = textOf(join(this.#folder, 'packed-refs')).split('\n')
    for (const line of packed) {
      const match = /^([0-9a-f]{40}) refs\/heads\/(.+)$/.exec(line)
      if (match !== null) found.set(match[2] ?? '', match[1] ?? '')
    }
    const heads = join(this.#folder, 'refs/heads')
    for (const entry of readdirSync(heads, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const commit = entry.isFile() ? textOf(path).trim() : ''
      if (/^[0-9a-f]{40}$/.test(commit)) found.set(relative(heads, path), commit)
    }
    return found
  }

  reaches(from: string, commit: string): boolean {
    const key = `${from} ${commit}`
    const known = this.#reached.get(key)
    if (known !== undefined) return known
    const answer = this.#asksReach(from, commit)
    this.#reached.set(key, answer)
    return answer
  }

  keepBlob(content: Buffer): string {
    return this.#input(content, 'hash-object', '-w', '--stdin')
  }

  /** @param base id of a tree */
  keepTree(base: string | undefined, files: readonly TreeChange[]): string {
    const folder = mkdtempSync(join(tmpdir(), 'backporch-index-'))
    const env = { GIT_INDEX_FILE: join(folder, 'index') }
    try {
      if (base !== undefined) this.#input('', 'read-tree', base, env)
      const lines = files.map(({ path, mode, blob }) =>
        blob === null ? `0 ${'0'.repeat(40)}\t${path}` : `${mode} ${blob}\t${path}`,
      )
      this.#input(
        lines.map((line) => `${line}\0`).join(''),
        'update-index',
        '-z',
        '--index-info',
        env,
      )
      return this.#input('', 'write-tree', env)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  keepCommit(content: string): string {
    return this.#input(content, 'hash-object', '-w', '-t', 'commit', '--stdin')
  }

  pathsOf(tree: string): readonly string[] {
    return this.run('ls-tree', '-r', '-z', '--name-only', tree).split('\0')
  }

  #input(input: string | Buffer, ...words: readonly (string | NodeJS.ProcessEnv)[]): string {
    const args = words.filter((word) => typeof word === 'string')
    const env = Object.assign(
      {},
      this.#environment,
      ...words.filter((word) => typeof word !== 'string'),
    )
    return execFileSync('git', args, { cwd: this.#folder, env, encoding: 'utf8', input }).trim()
  }

  #asksReach(from: string, commit: string): boolean {
    try {
      this.run('merge-base', '--is-ancestor', commit, from)
      return true
    } catch {
      return false
    }
  }

  delete(branch: string): void {
    this.run('update-ref', '-d', `refs/heads/${branch}`)
  }

  /** Moves the base branch. @returns the commit that GitHub names, undefined for a conflict */
  merge(style: MergeStyle, base: string, head: string, message: string): string | undefined {
    const before = this.run('rev-parse', `refs/heads/${base}`)
    try {
      const commit =
        style === 'rebase' ? this.#rebase(before, head) : this.#commit(style, before, head, message)
      this.run('update-ref', `refs/heads/${base}`, commit, before)
      return commit
    } catch {
      return undefined
    }
  }

  #commit(style: 'merge' | 'squash', before: string, head: string, message: string): string {
    const tree = this.run('merge-tree', '--write-tree', before, head).split('\n')[0] ?? ''
    const parents = style === 'merge' ? ['-p', before, '-p', head] : ['-p', before]
    return this.run('commit-tree', tree, ...parents, '-m', message)
  }

  #rebase(before: string, head: string): string {
    const location = mkdtempSync(join(tmpdir(), 'backporch-rebase-'))
    try {
      this.run('worktree', 'add', '--quiet', '--detach', join(location, 'tree'), before)
      this.run('-C', join(location, 'tree'), 'cherry-pick', `${before}..${head}`)
      return this.run('-C', join(location, 'tree'), 'rev-parse', 'HEAD')
    } finally {
      this.run('worktree', 'remove', '--force', join(location, 'tree'))
      rmSync(location, { recursive: true, force: true })
    }
  }
}

/** Empty where the file is not there, or gone since it was listed. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
