/** `PackageRepository` in memory: same draft, same id; a push is compare and swap over all refs or none. */
import { createHash } from 'node:crypto'
import { createGitObject, parseCommit } from '@backporch/git-store/objects'
import type {
  CommitDraft,
  CommitView,
  FileChange,
  PackageRepository,
  RefUpdate,
  RepositoryRefs,
  TreeFile,
} from '@backporch/git-store/package-repository'
import { assertPushable } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'

export const BOT_EMAIL = 'bot@example.com'

interface Commit extends CommitView {
  readonly files: ReadonlyMap<string, ObjectId>
}

export class MemoryRepository implements PackageRepository {
  limitsPushes = false
  readonly remote: string = 'file:///deploy.git'
  readonly branches = new Map<string, ObjectId>()
  /** A key was given: what is written is signed from then on, and signatures are looked at. */
  signs = false
  private readonly signed = new Set<ObjectId>()
  /** Every push, in order. */
  readonly pushes: (readonly RefUpdate[])[] = []
  /** Called before each push: a test lets somebody else move a ref there. */
  beforePush: (updates: readonly RefUpdate[]) => void = () => undefined
  /** Called when a push is done: a test loses the answer there. */
  afterPush: (updates: readonly RefUpdate[]) => void = () => undefined
  /** Paths of symbolic links; the text of such a file is what it leads to. */
  readonly links = new Set<string>()
  private readonly commits = new Map<ObjectId, Commit>()
  private readonly blobs = new Map<ObjectId, Uint8Array>()
  private readonly trees = new Map<string, ReadonlyMap<string, ObjectId>>()

  /** Commits files by hand to a branch. */
  commitByHand(
    branch: string,
    files: { readonly [path: string]: string | null },
    more: {
      author?: string
      committer?: string
      parents?: readonly ObjectId[]
      at?: number
      message?: string
    } = {},
  ): ObjectId {
    const ref = `refs/heads/${branch}`
    const head = this.branches.get(ref)
    const changes = Object.entries(files).map(([path, text]) => ({
      path,
      content: text === null ? null : new TextEncoder().encode(text),
    }))
    const author = more.author ?? 'ada@example.com'
    const parents = more.parents ?? (head === undefined ? [] : [head])
    const id = this.add(
      {
        parents,
        base: head,
        changes,
        message: more.message ?? 'by hand\n',
        at: more.at ?? 1_700_000_000 + this.commits.size,
      },
      author,
      more.committer ?? author,
    )
    this.branches.set(ref, id)
    return id
  }

  async listRefs(): Promise<RepositoryRefs> {
    return { defaultBranch: 'main', refs: new Map(this.branches) }
  }

  async commit(id: ObjectId): Promise<CommitView> {
    const { files: _files, ...view } = this.known(id)
    return this.signs ? { ...view, signed: this.signed.has(id) } : view
  }

  async list(commit: ObjectId, path: string): Promise<readonly TreeFile[]> {
    const prefix = path === '' ? '' : `${path}/`
    const one = this.known(commit).files.get(path)
    if (one !== undefined) return [{ path: '', mode: this.modeOf(path), id: one }]
    return [...this.known(commit).files]
      .filter(([file]) => file.startsWith(prefix))
      .map(([file, id]) => ({ path: file.slice(prefix.length), mode: this.modeOf(file), id }))
      .sort((left, right) => (left.path < right.path ? -1 : 1))
  }

  private modeOf(path: string): TreeFile['mode'] {
    return this.links.has(path) ? '120000' : '100644'
  }

  async read(blobs: readonly ObjectId[]): Promise<ReadonlyMap<ObjectId, Uint8Array>> {
    return new Map(blobs.map((id) => [id, this.blobs.get(id) ?? new Uint8Array()]))
  }

  async prepare(blobs: readonly ObjectId[]): Promise<ReadonlyMap<ObjectId, number>> {
    return new Map(blobs.map((id) => [id, this.blobs.get(id)?.length ?? 0]))
  }

  async write(draft: CommitDraft): Promise<ObjectId> {
    const id = this.add(draft, BOT_EMAIL, BOT_EMAIL, this.signs)
    if (this.signs) this.signed.add(id)
    return id
  }

  async takeCommit(content: Uint8Array): Promise<ObjectId> {
    const { id, content: bytes } = createGitObject('commit', content)
    const view = parseCommit(id, bytes)
    this.commits.set(id, { ...view, files: this.filesOf(view.tree) })
    return id
  }

  async push(updates: readonly RefUpdate[]): Promise<void> {
    this.beforePush(updates)
    for (const update of updates) assertPushable(update, 'main')
    for (const { ref, from } of updates) {
      if ((this.branches.get(ref) ?? null) === from) continue
      throw new Failure({
        code: 'BP4003',
        what: 'a ref moved',
        where: ref,
        why: 'somebody else pushed',
        remedy: 'read again',
        retry: 'backoff',
      })
    }
    for (const { ref, to } of updates) {
      if (to === null) this.branches.delete(ref)
      else this.branches.set(ref, to)
    }
    this.pushes.push(updates)
    this.afterPush(updates)
  }

  /** Short names of the branches and tags, sorted; without `main` and the ledger. */
  names(): string[] {
    const short = [...this.branches.keys()].map((ref) => ref.replace(/^refs\/(heads|tags)\//, ''))
    return short.filter((name) => name !== 'main' && name !== 'drift-ledger').sort()
  }

  text(branch: string, path: string): string | undefined {
    const head = this.branches.get(`refs/heads/${branch}`)
    const id = head === undefined ? undefined : this.known(head).files.get(path)
    return id === undefined ? undefined : new TextDecoder().decode(this.blobs.get(id))
  }

  paths(branch: string): string[] {
    const head = this.branches.get(`refs/heads/${branch}`)
    return head === undefined ? [] : [...this.known(head).files.keys()].sort()
  }

  head(branch: string): ObjectId {
    const id = this.branches.get(`refs/heads/${branch}`)
    if (id === undefined) throw new TypeError(`no branch ${branch}`)
    return id
  }

  /** Whether the commit is the other one or one of its ancestors. */
  reaches(from: string, commit: string): boolean {
    const observed = new Set<string>()
    const open = [from]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === commit) return true
      if (observed.has(id)) continue
      observed.add(id)
      open.push(...this.known(parseObjectId(id)).parents)
    }
    return false
  }

  authorOf(commit: ObjectId): string {
    return this.known(commit).author.email
  }

  /** Everything that was ever written, as text: messages and contents. */
  everything(): string {
    const contents = [...this.blobs.values()].map((blob) => new TextDecoder().decode(blob))
    return [
      ...contents,
      ...[...this.commits.values()].map(({ message }) => message),
      ...this.branches.keys(),
    ].join('\n')
  }

  keepBlob(content: Uint8Array): ObjectId {
    const id = hash(content)
    this.blobs.set(id, content)
    return id
  }

  /** The tree of a commit with other files. */
  keepTree(
    base: string | undefined,
    changes: readonly { readonly path: string; readonly blob: string | null }[],
  ): ObjectId {
    const files = new Map(base === undefined ? [] : this.filesOf(base))
    for (const { path, blob } of changes)
      blob === null ? files.delete(path) : files.set(path, parseObjectId(blob))
    return this.treeOf(files)
  }

  pathsOf(tree: string): readonly string[] {
    return [...this.filesOf(tree).keys()]
  }

  private filesOf(tree: string): ReadonlyMap<string, ObjectId> {
    const files = this.trees.get(tree)
    if (files === undefined) throw new TypeError(`no tree ${tree}`)
    return files
  }

  private treeOf(files: ReadonlyMap<string, ObjectId>): ObjectId {
    const tree = hash(JSON.stringify([...files].sort()))
    this.trees.set(tree, files)
    return tree
  }

  private add(draft: CommitDraft, author: string, committer: string, signed = false): ObjectId {
    const files = new Map(draft.base === undefined ? [] : this.known(draft.base).files)
    for (const change of draft.changes) this.change(files, change)
    const tree = this.treeOf(files)
    const id = hash(
      JSON.stringify([
        tree,
        draft.parents,
        draft.message,
        draft.at,
        author,
        committer,
        ...(signed ? ['signed'] : []),
      ]),
    )
    const { parents, message, at } = draft
    this.commits.set(id, {
      id,
      parents,
      tree,
      message,
      author: { name: author, email: author, at },
      committer: { name: committer, email: committer, at },
      files,
    })
    return id
  }

  private change(files: Map<string, ObjectId>, { path, content }: FileChange): void {
    if (content === null) files.delete(path)
    else files.set(path, this.keepBlob(content))
  }

  private known(id: ObjectId): Commit {
    const commit = this.commits.get(id)
    if (commit === undefined) throw new TypeError(`no commit ${id}`)
    return commit
  }
}

function hash(content: string | Uint8Array): ObjectId {
  return parseObjectId(createHash('sha1').update(content).digest('hex'))
}
