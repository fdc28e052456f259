/** What GitHub does in the repository itself, done by the real git in a bare repository. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

export type MergeStyle = 'merge' | 'squash' | 'rebase'

export class EmulatedGit {
  readonly #folder: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #reached = new Map<string, boolean>()

  constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.#folder = folder
    this.#environment = { ...environment, GIT_COMMITTER_NAME: 'GitHub', GIT_COMMITTER_EMAIL: 'noreply@github.com' }
  }

  run(...args: readonly string[]): string {
    const stdio = ['ignore', 'pipe', 'pipe'] as const
    return execFileSync('git', args, { cwd: this.#folder, env: this.#environment, encoding: 'utf8', stdio: [...stdio] }).trim()
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
      const commit = style === 'rebase' ? this.#rebase(before, head) : this.#commit(style, before, head, message)
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
