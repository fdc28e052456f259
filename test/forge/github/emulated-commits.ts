/** Blobs, trees and commits as GitHub's git database makes them (docs/facts/github-signed-commits.md). */
import { createGitObject } from '@backporch/git-store/objects'
import type { RouteAnswer, RouteInput } from './emulated-routes.ts'
import type { UsedOperation } from './used-operations.ts'

const REPOSITORY = '/repos/{owner}/{repo}'

/** No key is behind it: whoever reads the commit finds the header, and nobody here verifies it. */
const signatureOf = (payload: string): string =>
  `-----BEGIN PGP SIGNATURE-----\n\n${Buffer.from(createGitObject('blob', Buffer.from(payload)).id).toString('base64')}\n-----END PGP SIGNATURE-----\n`

export const COMMIT_ROUTES: Readonly<
  Partial<Record<UsedOperation, (input: RouteInput) => RouteAnswer>>
> = {
  [`POST ${REPOSITORY}/git/blobs` as const]: ({ state, body }: RouteInput) => {
    const bytes = Buffer.from(
      String(body['content']),
      body['encoding'] === 'base64' ? 'base64' : 'utf8',
    )
    return { status: 201, body: { sha: state.git.keepBlob(bytes), url: '' } }
  },

  [`POST ${REPOSITORY}/git/trees` as const]: ({ state, body }: RouteInput) => {
    const base = typeof body['base_tree'] === 'string' ? body['base_tree'] : undefined
    const entries = body['tree'] as readonly {
      path: string
      mode: string
      sha?: string | null
      content?: string
    }[]
    if (entries.length === 0) return { status: 422, body: { message: 'Invalid tree info' } }
    const there = new Set(base === undefined ? [] : state.git.pathsOf(base))
    if (entries.some(({ path, sha }) => sha === null && !there.has(path)))
      return { status: 422, body: { message: 'GitRPC::BadObjectState' } }
    const files = entries.map(({ path, mode, sha, content }) => {
      const blob =
        content === undefined ? (sha ?? null) : state.git.keepBlob(Buffer.from(content, 'utf8'))
      return { path, mode, blob }
    })
    return {
      status: 201,
      body: { sha: state.git.keepTree(base, files), truncated: false, tree: [] },
    }
  },

  [`POST ${REPOSITORY}/git/commits` as const]: ({ state, actor, body }: RouteInput) => {
    const [tree, message, parents = []] = [
      String(body['tree']),
      String(body['message']),
      body['parents'] as string[] | undefined,
    ]
    const seconds = Date.parse(state.now()) / 1000
    const own = `${actor} <${4_000_000 + actor.length}+${actor}@users.noreply.github.com> ${seconds} +0000`
    const named = body['author'] !== undefined || body['committer'] !== undefined
    const isSigned = state.signsCommits && state.bots.has(actor) && !named
    const committer = isSigned ? `GitHub <noreply@github.com> ${seconds} +0000` : own
    const head = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${own}`,
      `committer ${committer}`,
    ].join('\n')
    const payload = `${head}\n\n${message}`
    const signature = isSigned ? signatureOf(payload) : null
    const signed =
      signature === null
        ? payload
        : `${head}\ngpgsig ${signature.replaceAll('\n', '\n ')}\n\n${message}`
    const sha = state.git.keepCommit(signed)
    if (isSigned) state.signed.add(sha)
    const verification = isSigned
      ? { verified: true, reason: 'valid', signature, payload, verified_at: state.now() }
      : { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
    return {
      status: 201,
      body: {
        sha,
        message,
        verification,
        tree: { sha: tree, url: '' },
        parents: parents.map((one) => ({ sha: one, url: '', html_url: '' })),
      },
    }
  },
}
