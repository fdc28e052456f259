/** Commits that GitHub signs, over a real repository whose hook takes no other. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type {
  CommitDraft,
  FileChange,
  PackageRepository,
} from '@backporch/git-store/package-repository'
import type { ObjectId } from '@backporch/kyaml/files'
import { createSignedRepository } from '../../../src/reconcile/turn/apply/signed-repository.ts'
import { changeOf, expectFailure, headOf } from '../../contract/git-remotes.ts'
import { createGitHubFixture, type GitHubFixture, INSTALLATION_TOKEN } from './github-fixture.ts'
import { complete } from './openapi-check.ts'

const SIGNAL = new AbortController().signal
const LOGIN = 'porch[bot]'
const PROPOSED = 'refs/heads/proposed/apps/web/drift-1'
const LEDGER = 'refs/heads/drift-ledger'
const ZERO = '0'.repeat(40)
const HOOK = `#!/bin/sh
while read old new ref; do
  [ "$new" = ${ZERO} ] && continue
  for commit in $(git rev-list "$new" --not --all); do
    git cat-file commit "$commit" | grep -q '^gpgsig ' || { echo "GH013: Commits must have verified signatures." >&2; exit 1; }
  done
done
`

describe('commits that must be signed', () => {
  let fixture: GitHubFixture
  let repository: PackageRepository

  before(async () => {
    fixture = await createGitHubFixture()
    fixture.emulator.addInstallationToken(INSTALLATION_TOKEN, LOGIN)
    writeFileSync(join(fixture.testRepository.gitFolder, 'hooks', 'pre-receive'), HOOK, {
      mode: 0o755,
    })
  })
  after(async () => {
    const { problems } = fixture.emulator
    await fixture.close()
    assert.deepEqual([...new Set(problems)], [])
  })

  const open = async (
    token = INSTALLATION_TOKEN,
    notice: (text: string) => void = () => undefined,
  ): Promise<PackageRepository> => {
    fixture.emulator.requests.length = 0
    const forge = await fixture.forge({ credential: { kind: 'token', token }, notice })
    repository = createSignedRepository(fixture.repository, forge, 'main', SIGNAL)
    return repository
  }
  const asked = (): readonly string[] =>
    fixture.emulator.requests
      .map(({ method, path }) => `${method} ${path}`)
      .filter((one) => !one.endsWith(' /repos/acme/deploy'))
  const required = (...branches: readonly string[]): void => {
    fixture.emulator.state.rules = (branch) =>
      branches.includes(branch) ? [{ type: 'required_signatures' }] : []
  }
  const git = (...args: readonly string[]): string => fixture.testRepository.git(...args)
  const draft = async (files: Readonly<Record<string, string | null>>): Promise<CommitDraft> => ({
    ...changeOf(await headOf(fixture.repository, SIGNAL), files),
    ref: PROPOSED,
  })
  /** Makes the commit as git's adapter and as GitHub makes it. */
  const both = async (wanted: CommitDraft): Promise<readonly [own: ObjectId, signed: ObjectId]> => {
    const { ref: _, ...plain } = wanted
    return [await fixture.repository.write(plain), await repository.write(wanted)]
  }

  it('git creates commits when no rule requires signatures, and for the account of a person', async () => {
    required()
    await open()
    const [own, same] = await both(await draft({ 'README.md': 'a\n' }))
    assert.equal(same, own)
    assert.deepEqual(
      asked().filter((one) => one.startsWith('POST /repos/')),
      [],
    )
    required('main')
    await open('ghp_canary0000000000000000000000000000')
    assert.equal(await repository.write(await draft({ 'README.md': 'a\n' })), own)
    assert.deepEqual(asked(), [])
  })

  it('reads the rules of each branch once, and none in a dry run', async () => {
    required('main')
    await open()
    const [own, signed] = await both(await draft({ 'README.md': 'a\n' }))
    assert.notEqual(signed, own)
    const rules = (): readonly string[] => asked().filter((one) => one.includes('/rules/'))
    assert.deepEqual(rules(), ['GET /repos/acme/deploy/rules/branches/main'])
    const ledger = { ...(await draft({ 'README.md': 'b\n' })), ref: LEDGER }
    const [plain, kept] = await both(ledger)
    assert.equal(kept, plain, 'the rule is not about the ledger')
    await repository.write(await draft({ 'README.md': 'c\n' }))
    assert.deepEqual(rules(), [
      'GET /repos/acme/deploy/rules/branches/main',
      'GET /repos/acme/deploy/rules/branches/drift-ledger',
    ])
    const before = asked().length
    const { ref: _, ...compared } = await draft({ 'README.md': 'd\n' })
    await repository.write(compared)
    assert.equal(asked().length, before)
  })

  it('reads signature rules from branch protection too, and without access to rulesets', async () => {
    const { state } = fixture.emulator
    state.rules = 'refused'
    await open()
    const wanted = await draft({ 'README.md': 'a\n' })
    const [own, none] = await both(wanted)
    assert.equal(none, own)
    state.protectedBySignatures = (branch) => branch === 'main'
    await open()
    assert.notEqual(await repository.write(wanted), own)
    state.tellsProtection = false
    await open()
    assert.equal(await repository.write(wanted), own, 'what is not told holds nothing up')
    required('main')
    await open()
    assert.notEqual(await repository.write(wanted), own)
    Object.assign(state, { tellsProtection: true, protectedBySignatures: () => false })
  })

  it('git pushes commits signed by GitHub, with the author and time of GitHub, and reads them back', async () => {
    required('main')
    await open()
    const [own, signed] = await both(await draft({ 'apps/web/service.yaml': 'kind: Service\n' }))
    await expectFailure(
      fixture.repository.push([{ ref: PROPOSED, from: null, to: own }], SIGNAL),
      'BP4002',
    )
    await repository.push([{ ref: PROPOSED, from: null, to: signed }], SIGNAL)
    assert.equal(git('rev-parse', PROPOSED), signed)
    const raw = git('cat-file', 'commit', signed)
    assert.match(raw, /^author porch\[bot\] <\d+\+porch\[bot\]@users\.noreply\.github\.com> /m)
    assert.match(
      raw,
      /^committer GitHub <noreply@github\.com> \d+ \+0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n .*\n -----END PGP SIGNATURE-----\n \n\nCorrect it\n/m,
    )
    const [before, view] = [
      await fixture.repository.commit(own, SIGNAL),
      await repository.commit(signed, SIGNAL),
    ]
    assert.deepEqual(
      [view.tree, view.message, view.parents],
      [before.tree, before.message, before.parents],
    )
    git('fsck', '--strict')
    await repository.push([{ ref: PROPOSED, from: signed, to: null }], SIGNAL)
  })

  it('have the tree that a push would have: modes, links, binary files, removed files and new folders', async () => {
    required('main', 'drift-ledger')
    await open()
    const base = await headOf(fixture.repository, SIGNAL)
    const there = await fixture.repository.list(base, '', SIGNAL)
    assert.ok(
      ['100755', '120000'].every((mode) => there.some((file) => file.mode === mode)),
      'a program and a link',
    )
    const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values)
    const contents = [
      bytes(),
      bytes(0),
      bytes(0xff, 0xfe, 0x0a),
      Buffer.from('\ufeffa: ü\r\n'),
      Buffer.from('\u2028'),
      Buffer.from('no line break'),
    ]
    const written = there
      .filter(({ mode }) => mode !== '120000')
      .flatMap(({ path }, at): FileChange[] => [
        { path, content: contents[at % contents.length] ?? null },
      ])
    const sets: readonly (readonly FileChange[])[] = [
      written,
      there.flatMap(({ path, mode }) => (mode === '120000' ? [] : [{ path, content: null }])),
      [
        { path: 'not/there', content: null },
        { path: 'a/b/c/d/ü .yaml', content: Buffer.from('a\n') },
      ],
      [],
    ]
    for (const changes of sets) {
      const made = await both({
        parents: [base],
        base,
        changes,
        message: 'Correct it',
        at: 1_700_000_500,
        ref: PROPOSED,
      })
      const [own, signed] = await Promise.all(made.map((id) => repository.commit(id, SIGNAL)))
      assert.equal(signed?.tree, own?.tree)
      assert.notEqual(signed?.id, own?.id)
    }
    const first = {
      parents: [],
      base: undefined,
      changes: [{ path: 'README.md', content: Buffer.from('ours\n') }],
    }
    const [own, signed] = await both({
      ...first,
      message: 'ledger',
      at: 1_700_000_500,
      ref: LEDGER,
    })
    const next = {
      parents: [signed],
      base: signed,
      changes: [{ path: 'a.yaml', content: Buffer.from('a\n') }],
    }
    const second = await repository.write({
      ...next,
      message: 'ledger',
      at: 1_700_000_600,
      ref: LEDGER,
    })
    await repository.push([{ ref: LEDGER, from: null, to: second }], SIGNAL)
    assert.equal(
      (await repository.commit(signed, SIGNAL)).tree,
      (await fixture.repository.commit(own, SIGNAL)).tree,
    )
    assert.equal(git('ls-tree', '-r', '--name-only', LEDGER), 'README.md\na.yaml')
    git('fsck', '--strict')
  })

  it('git creates the commits, with one note, on a server that signs nothing', async () => {
    const { state } = fixture.emulator
    state.signsCommits = false
    const told: string[] = []
    await open(INSTALLATION_TOKEN, (text) => told.push(text))
    const [own, same] = await both(await draft({ 'README.md': 'a\n' }))
    assert.equal(same, own)
    await repository.write(await draft({ 'README.md': 'b\n' }))
    assert.deepEqual(told, [
      'commits have to be signed, and GitHub signs none here (unsigned): give a signing key',
    ])
    state.signsCommits = true
  })

  it('refuses a tree or a commit that differs from what was requested', async () => {
    await open()
    const wanted = await draft({ 'README.md': 'a\n' })
    const sha = 'b'.repeat(40)
    const { faults } = fixture.emulator
    faults.push({
      on: 'POST /repos/{owner}/{repo}/git/trees',
      moment: 'before',
      answer: { status: 201, body: complete('POST /repos/{owner}/{repo}/git/trees', 201, { sha }) },
    })
    const tree = await expectFailure(repository.write(wanted), 'BP5007')
    assert.match(tree.message, /its tree of the files is b+, and not [0-9a-f]{40}/)
    const verification = {
      verified: true,
      reason: 'valid',
      signature: 'x\n',
      payload: 'tree a\n\nother',
      verified_at: null,
    }
    faults.push({
      on: 'POST /repos/{owner}/{repo}/git/commits',
      moment: 'before',
      answer: {
        status: 201,
        body: complete('POST /repos/{owner}/{repo}/git/commits', 201, { sha, verification }),
      },
    })
    const other = await expectFailure(repository.write(wanted), 'BP5007')
    assert.match(other.message, /is not the commit b+/)
    faults.push({
      on: 'POST /repos/{owner}/{repo}/git/commits',
      moment: 'before',
      answer: {
        status: 422,
        body: { message: 'Tree does not exist', documentation_url: 'https://docs.github.com/rest' },
      },
    })
    await expectFailure(repository.write(wanted), 'BP5006')
    assert.notEqual(await repository.write(wanted), (await both(wanted))[0])
  })
})
