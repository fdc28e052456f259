/**
 * GitHub signs an App's commit that names no author, committer or signature
 * (docs/facts/github-signed-commits.md). An App has no account for a signing key.
 */
import { createHash } from 'node:crypto'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { convertToFailure } from '@backporch/kyaml/failure'
import { createWrongForgeFailure } from '../adapter/forge-failure.ts'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import type { ForgeCommits, UnmadeCommit, UnmadeFile } from '../ports/hosted-forge.ts'
import type { GitHubClient, Target } from './github-client.ts'

const WHAT = 'make a signed commit'
const READ = 'read whether commits have to be signed'
const HEADS = 'refs/heads/'
const RULE = 'required_signatures'
const QUERY = `query SignedCommits($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) { ref(qualifiedName: $ref) { refUpdateRule { requiresSignatures } } }
}`

interface Signature {
  readonly signature: string | null
  readonly payload: string | null
}

export class GitHubCommits implements ForgeCommits {
  readonly #client: GitHubClient
  readonly #required = new Map<string, Promise<boolean>>()

  constructor(client: GitHubClient) {
    this.#client = client
  }

  getAccount(signal: AbortSignal): Promise<string> {
    return this.#client.getLogin(signal)
  }

  async areRequired(ref: string, baseBranch: string, signal: AbortSignal): Promise<boolean> {
    if (!(await this.getAccount(signal)).endsWith('[bot]')) return false
    // The ledger is not merged anywhere.
    const branch = ref === `${HEADS}${LEDGER_BRANCH}` ? LEDGER_BRANCH : baseBranch
    const known = this.#required.get(branch) ?? this.#isRequired(branch, signal)
    this.#required.set(branch, known)
    try {
      return await known
    } catch (thrown) {
      this.#required.delete(branch)
      throw thrown
    }
  }

  async make(commit: UnmadeCommit, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const client = this.#client
    const target = await client.getWritableTarget(WHAT, signal)
    const tree = await this.#makeTree(commit, target)
    if (tree !== commit.tree)
      throw createWrongForgeFailure(
        { address: client.address, what: WHAT },
        `its tree of the files is ${tree}, and not ${commit.tree}`,
      )
    const { message, parents } = commit
    const requested = { ...target, message, tree, parents: [...parents] }
    const { data } = await client.ask(WHAT, () => client.octokit.rest.git.createCommit(requested))
    const { signature, reason } = data.verification
    if (signature === null) {
      client.tell(
        `commits have to be signed, and GitHub signs none here (${reason}): give a signing key`,
      )
      return undefined
    }
    const content = listSignedContents(data.verification).find(
      (one) => computeCommitId(one) === data.sha,
    )
    if (content === undefined)
      throw createWrongForgeFailure(
        { address: client.address, what: WHAT },
        `what it signed, with the signature, is not the commit ${data.sha}`,
      )
    return content
  }

  /** Two places: rulesets and the older branch protection. */
  async #isRequired(branch: string, signal: AbortSignal): Promise<boolean> {
    const client = this.#client
    const { owner, repo, request } = await client.getTarget(signal)
    if (await this.#isProtected({ owner, name: repo, ref: `${HEADS}${branch}` }, signal))
      return true
    try {
      const rules = await client.list(READ, (page) =>
        client.octokit.rest.repos.getBranchRules({
          owner,
          repo,
          branch,
          per_page: 100,
          page,
          request,
        }),
      )
      return rules.some(({ type }) => type === RULE)
    } catch (thrown) {
      // A plan without rulesets, or an older server.
      const status = findRefusedStatus(thrown)
      if (status !== 403 && status !== 404) throw thrown
      return false
    }
  }

  /** False if GitHub does not tell the account, or lacks the field. */
  async #isProtected(
    variables: Readonly<Record<'owner' | 'name' | 'ref', string>>,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      const answer = await this.#client.queryGraphql<RuleAnswer>(READ, QUERY, variables, signal)
      return answer.repository?.ref?.refUpdateRule?.requiresSignatures === true
    } catch (thrown) {
      const { code } = convertToFailure(thrown)
      if (signal.aborted || (code !== 'BP5003' && code !== 'BP5006')) throw thrown
      return false
    }
  }

  async #makeTree({ base, tree, files }: UnmadeCommit, target: Target): Promise<string> {
    const { rest } = this.#client.octokit
    if (base === tree) return tree
    const entries = []
    for (const file of files)
      entries.push({
        path: file.path,
        mode: file.mode,
        type: 'blob' as const,
        ...(await this.#getContent(file, target)),
      })
    const requested = {
      ...target,
      tree: entries,
      ...(base === undefined ? {} : { base_tree: base }),
    }
    const { data } = await this.#client.ask(WHAT, () => rest.git.createTree(requested))
    return data.sha
  }

  async #getContent(
    { content }: UnmadeFile,
    target: Target,
  ): Promise<{ readonly content: string } | { readonly sha: string | null }> {
    if (content === null) return { sha: null }
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    const text = bytes.toString('utf8')
    if (!text.includes('\0') && Buffer.from(text, 'utf8').equals(bytes)) return { content: text }
    const requested = { ...target, content: bytes.toString('base64'), encoding: 'base64' }
    const { data } = await this.#client.ask(WHAT, () =>
      this.#client.octokit.rest.git.createBlob(requested),
    )
    return { sha: data.sha }
  }
}

interface RuleAnswer {
  readonly repository?: {
    readonly ref?: {
      readonly refUpdateRule?: { readonly requiresSignatures?: unknown } | null
    } | null
  } | null
}

/**
 * The signed content, with the signature as its last header. A trailing line break may be missing.
 */
function listSignedContents({ signature, payload }: Signature): readonly Uint8Array[] {
  const end = payload?.indexOf('\n\n') ?? -1
  if (signature === null || payload === null || end < 0) return []
  const text = signature.trimEnd()
  return [`${text}\n`, text].map((one) =>
    Buffer.from(
      `${payload.slice(0, end)}\ngpgsig ${one.replaceAll('\n', '\n ')}${payload.slice(end)}`,
    ),
  )
}

function computeCommitId(commit: Uint8Array): string {
  return createHash('sha1').update(`commit ${commit.length}\0`).update(commit).digest('hex')
}
