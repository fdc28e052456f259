/** Signatures of commits, judged by the real `git verify-commit` and the real `ssh-keygen`. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import {
  changeOf,
  gitTestEnvironment,
  headOf,
  makeTestRepository,
  openTestRepository,
  temporaryFolder,
} from '../../../test/contract/git-remotes.ts'
import { describeSigningKey, findCommitSigner, parseAllowedSigners } from './commit-signer.ts'
import { BOT } from './sign-off.ts'
import {
  isSignedBy,
  parsePrivateKey,
  parsePublicKey,
  signCommit,
  UnusableKey,
} from './ssh-signature.ts'

const { signal } = new AbortController()
const isThere = spawnSync('ssh-keygen', ['-?'], { stdio: 'ignore' }).error === undefined
// On a machine of the project's own checks it has to be there.
const skip = isThere || process.env['CI'] === 'true' ? false : 'ssh-keygen is not installed'

describe('signatures of commits', { skip }, () => {
  const folder = temporaryFolder()
  after(() => rmSync(folder, { recursive: true, force: true }))
  const environment = gitTestEnvironment(folder)
  const at = (name: string): string => join(folder, name)
  const run = (program: string, args: readonly string[], input?: string | Buffer) =>
    spawnSync(program, args, {
      cwd: folder,
      env: environment,
      encoding: 'latin1',
      ...(input === undefined ? {} : { input }),
    })
  const generate = (name: string, ...args: readonly string[]): string => {
    const created = run('ssh-keygen', [
      '-q',
      '-C',
      'backporch',
      '-f',
      at(name),
      ...(args.length === 0 ? ['-t', 'ed25519', '-N', ''] : args),
    ])
    assert.equal(created.status, 0, created.stderr)
    return at(name)
  }
  const [own, other] = [generate('own'), generate('other')]
  const publicOf = (path: string): Buffer => {
    const [type = '', key = ''] = readFileSync(`${path}.pub`, 'utf8').split(' ')
    return parsePublicKey(type, key) ?? assert.fail('of another type')
  }
  const signersFile = (path: string): string => {
    writeFileSync(`${path}.signers`, `${BOT.email} ${readFileSync(`${path}.pub`, 'utf8')}`)
    return `${path}.signers`
  }
  const key = parsePrivateKey(readFileSync(own, 'utf8'))
  const commitOf = (message: string): Buffer => {
    const person = `${BOT.name} <${BOT.email}> 1700000000 +0000`
    return Buffer.from(
      `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor ${person}\ncommitter ${person}\n\n${message}\n`,
    )
  }
  const armouredIn = (commit: Buffer): string => {
    const [, text = ''] = /^gpgsig ((?:.*\n )*.*\n)/m.exec(commit.toString('latin1')) ?? []
    return text.replaceAll('\n ', '\n')
  }
  const signedByKeygen = (payload: Buffer, path: string, namespace: string): Buffer => {
    const result = run('ssh-keygen', ['-Y', 'sign', '-q', '-n', namespace, '-f', path], payload)
    assert.equal(result.status, 0, result.stderr)
    const end = payload.indexOf('\n\n') + 1
    const header = Buffer.from(`gpgsig ${result.stdout.trimEnd().replaceAll('\n', '\n ')}\n`)
    return Buffer.concat([payload.subarray(0, end), header, payload.subarray(end)])
  }
  run('git', ['init', '-q', 'judge'])
  const judge = (args: readonly string[], input?: Buffer) =>
    run('git', ['-C', 'judge', ...args], input)
  const judgeVerifies = (id: string, signers: string): boolean =>
    judge(['-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', id]).status === 0
  /** Whether the real git, which trusts the key at `path`, takes the commit for signed. */
  const gitVerifies = (commit: Buffer, path: string): boolean => {
    const built = judge(['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], commit)
    assert.equal(built.status, 0, built.stderr)
    return judgeVerifies(built.stdout.trim(), signersFile(path))
  }

  it('equal those of ssh-keygen byte for byte', () => {
    for (const message of ['one', 'gpgsig in a message\n\nand a body: ä', 'x'.repeat(100_000)]) {
      const commit = commitOf(message)
      assert.deepEqual(signCommit(commit, key), signedByKeygen(commit, own, 'git'))
    }
  })

  it('pass git verify-commit and ssh-keygen -Y verify, with the e-mail address as principal', () => {
    const signed = signCommit(commitOf('one'), key)
    assert.ok(gitVerifies(signed, own))
    writeFileSync(at('one.sig'), armouredIn(signed))
    const args = [
      '-Y',
      'verify',
      '-f',
      signersFile(own),
      '-I',
      BOT.email,
      '-n',
      'git',
      '-s',
      at('one.sig'),
    ]
    const verified = run('ssh-keygen', args, commitOf('one'))
    assert.equal(verified.status, 0, verified.stderr)
    assert.notEqual(run('ssh-keygen', args, commitOf('two')).status, 0)
  })

  it('verify on commits of real git, including merge commits and headers of other tools', () => {
    const commit = (...args: readonly string[]) => {
      const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${own}`]
      const outcome = judge([...settings, 'commit', '-q', '-S', '--allow-empty', ...args])
      assert.equal(outcome.status, 0, outcome.stderr)
      return Buffer.from(judge(['cat-file', 'commit', 'HEAD']).stdout, 'latin1')
    }
    assert.ok(isSignedBy(commit('-m', 'one'), [key.publicKey]))
    const latin = judge(['config', 'i18n.commitEncoding', 'ISO-8859-1'])
    assert.equal(latin.status, 0)
    const encoded = commit('-m', 'two')
    assert.match(encoded.toString('latin1'), /\nencoding ISO-8859-1\n/)
    assert.ok(isSignedBy(encoded, [key.publicKey]))
    assert.ok(!isSignedBy(encoded, [publicOf(other)]))
    assert.ok(isSignedBy(encoded, [publicOf(other), key.publicKey]))
  })

  const signed = signCommit(commitOf('one'), key)
  const armour = armouredIn(signed)
  const withArmour = (text: string): Buffer =>
    Buffer.from(
      signed.toString('latin1').replace(armour.replaceAll('\n', '\n ').slice(0, -1), text),
      'latin1',
    )
  const [text, header] = [
    signed.toString('latin1'),
    /gpgsig (?:.*\n )*.*\n/.exec(signed.toString('latin1'))?.[0] ?? '',
  ]
  const MADE_UP: { readonly [what: string]: () => Buffer } = {
    'no signature': () => commitOf('one'),
    'another key': () => signedByKeygen(commitOf('one'), other, 'git'),
    'a signature moved from another commit': () =>
      Buffer.from(text.replace('\n\none\n', '\n\ntwo\n'), 'latin1'),
    'a signature moved to another parent': () =>
      Buffer.from(
        text.replace('\nauthor', '\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor'),
        'latin1',
      ),
    'a signature of a file instead of a commit': () => signedByKeygen(commitOf('one'), own, 'file'),
    'a truncated signature': () => withArmour(armour.split('\n').slice(0, -3).join('\n ')),
    'a signature without its middle': () =>
      withArmour(armour.split('\n').toSpliced(2, 1).slice(0, -1).join('\n ')),
    'an empty signature': () =>
      withArmour('-----BEGIN SSH SIGNATURE-----\n -----END SSH SIGNATURE-----\n'),
    'a PGP signature': () =>
      withArmour('-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n'),
    'a signature in the message': () => Buffer.concat([commitOf('one'), Buffer.from(armour)]),
  }
  for (const [what, makeCommit] of Object.entries(MADE_UP)) {
    it(`rejects ${what}, as git does`, () => {
      const commit = makeCommit()
      assert.ok(what === 'no signature' || !commit.equals(signed), 'nothing was changed')
      assert.equal(isSignedBy(commit, [key.publicKey]), false)
      assert.equal(gitVerifies(commit, own), false)
    })
  }

  it('rejects a commit with two signatures', () => {
    assert.notEqual(header, '')
    for (const more of [header + header, header + header.replace('gpgsig', 'gpgsig-sha256')])
      assert.equal(
        isSignedBy(Buffer.from(text.replace(header, more), 'latin1'), [key.publicKey]),
        false,
      )
  })

  it('rejects any changed byte of the commit or the signature, without an error', () => {
    for (let index = 0; index < signed.length; index += 1) {
      const changed = Buffer.from(signed)
      changed[index] = (changed[index] ?? 0) ^ 1
      if (!isSignedBy(changed, [key.publicKey])) continue
      // A line break in the base64 is none of its bytes.
      assert.deepEqual(
        Buffer.from(armouredIn(changed).slice(29, -28), 'base64'),
        Buffer.from(armour.slice(29, -28), 'base64'),
        `byte ${index}`,
      )
      assert.ok(gitVerifies(changed, own), `byte ${index}`)
    }
    for (let length = 0; length < signed.length; length += 1)
      assert.equal(isSignedBy(signed.subarray(0, length), [key.publicKey]), false)
  })

  it('rejects base64 with nonzero trailing bits, like ssh-keygen', () => {
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    const [before = '', last = ''] = /([\s\S])=\n -----END/.exec(text) ?? []
    const changed = text.replace(
      before,
      before.replace(last, digits[digits.indexOf(last) + 1] ?? ''),
    )
    assert.notEqual(changed, text)
    assert.equal(isSignedBy(Buffer.from(changed, 'latin1'), [key.publicKey]), false)
    assert.equal(gitVerifies(Buffer.from(changed, 'latin1'), own), false)
  })

  it('rejects an unusable key with the reason, without revealing the key', async () => {
    const pem = execFileSync(
      'ssh-keygen',
      ['-q', '-t', 'rsa', '-b', '2048', '-m', 'PEM', '-N', '', '-f', at('pem')],
      { cwd: folder },
    )
    assert.ok(pem)
    const refused: readonly (readonly [string, RegExp])[] = [
      [generate('secret', '-t', 'ed25519', '-N', 'hunter22'), /encrypted with a passphrase/],
      [
        generate('rsa', '-t', 'rsa', '-b', '2048', '-N', ''),
        /its type is ssh-rsa, and only ssh-ed25519/,
      ],
      [generate('ecdsa', '-t', 'ecdsa', '-N', ''), /its type is ecdsa-sha2-nistp256/],
      [at('pem'), /another format than OpenSSH's/],
      [`${own}.pub`, /it is not a private key/],
      [at('nowhere'), /cannot be read \(ENOENT\)/],
      [folder, /cannot be read \(EISDIR\)/],
    ]
    for (const [path, why] of refused) {
      await assert.rejects(
        findCommitSigner({ BACKPORCH_SIGNING_KEY_FILE: path }, folder, BOT.email),
        (thrown) => {
          assert.ok(thrown instanceof Failure)
          assert.equal(thrown.code, 'BP1012')
          assert.match(thrown.why, why)
          return true
        },
      )
    }
    const lines = readFileSync(own, 'utf8').split('\n')
    for (let length = 0; length < lines.length - 2; length += 1) {
      const cut = [...lines.slice(0, length), '-----END OPENSSH PRIVATE KEY-----'].join('\n')
      assert.throws(() => parsePrivateKey(cut), UnusableKey)
      await assert.rejects(
        findCommitSigner({ BACKPORCH_SIGNING_KEY: cut }, folder, BOT.email),
        (thrown) => {
          assert.ok(thrown instanceof Failure)
          const reported = JSON.stringify(thrown) + String(thrown.stack) + String(thrown.cause)
          for (const line of lines.slice(1, -2))
            assert.ok(!reported.includes(line.slice(0, 20)), 'the key is told')
          return true
        },
      )
    }
  })

  it('reads the key from a file, or from a variable with real or escaped line breaks, but not both', async () => {
    const pem = readFileSync(own, 'utf8')
    for (const more of [
      { BACKPORCH_SIGNING_KEY_FILE: 'own' },
      { BACKPORCH_SIGNING_KEY: pem },
      { BACKPORCH_SIGNING_KEY: pem.replaceAll('\n', '\\n') },
    ]) {
      const signer = await findCommitSigner(more, folder, BOT.email)
      assert.deepEqual(signer?.sign(commitOf('one')), signed)
      assert.equal(signer?.isOurs(signed), true)
    }
    assert.equal(
      await findCommitSigner({ BACKPORCH_SIGNING_KEY: ' ' }, folder, BOT.email),
      undefined,
    )
    for (const more of [
      { BACKPORCH_SIGNING_KEY_FILE: 'own', BACKPORCH_SIGNING_KEY: pem },
      { BACKPORCH_ALLOWED_SIGNERS_FILE: 'own.signers' },
    ])
      await assert.rejects(findCommitSigner(more, folder, BOT.email), { code: 'BP1012' })
    const notified = await describeSigningKey(
      { BACKPORCH_SIGNING_KEY_FILE: 'own' },
      folder,
      BOT.email,
    )
    assert.equal(
      `256 ${notified?.fingerprint} backporch (ED25519)`,
      run('ssh-keygen', ['-l', '-f', own]).stdout.trim(),
    )
    assert.equal(notified?.readByAll, false)
  })

  it('accepts an earlier key only when the allowed signers list it for the address of the bot', async () => {
    const before = signCommit(commitOf('one'), parsePrivateKey(readFileSync(other, 'utf8')))
    const line = readFileSync(`${other}.pub`, 'utf8').trim()
    const believed = async (file: string): Promise<boolean | undefined> => {
      writeFileSync(at('signers'), file)
      const signer = await findCommitSigner(
        { BACKPORCH_SIGNING_KEY_FILE: own, BACKPORCH_ALLOWED_SIGNERS_FILE: 'signers' },
        folder,
        BOT.email,
      )
      assert.equal(signer?.isOurs(signed), true)
      return signer?.isOurs(before)
    }
    const takes: { readonly [file: string]: boolean } = {
      [`${BOT.email} ${line}\n`]: true,
      [`# before 2026\n\n"ada@example.com,*@users.noreply.backporch.dev" namespaces="file,git" ${line}`]: true,
      [`ada@example.com ${line}`]: false,
      [`*,!${BOT.email} ${line}`]: false,
      [`${BOT.email} namespaces="file" ${line}`]: false,
      '': false,
    }
    for (const [file, is] of Object.entries(takes)) {
      assert.equal(await believed(file), is, file)
      writeFileSync(at('other.signers'), file)
      const made = judge(['hash-object', '-t', 'commit', '-w', '--stdin'], before)
      const taken = judgeVerifies(made.stdout.trim(), at('other.signers'))
      // git asks for any principal, and so believes the line of somebody else.
      if (!file.startsWith('ada@') && !file.startsWith('*,!')) assert.equal(taken, is, file)
    }
    for (const options of [
      'cert-authority',
      'valid-before="20200101"',
      'namespaces="git",valid-after="20200101"',
    ])
      assert.throws(
        () => parseAllowedSigners(`${BOT.email} ${options} ${line}`, 'signers', BOT.email),
        {
          code: 'BP1012',
        },
      )
    for (const broken of [
      BOT.email,
      `${BOT.email} ssh-ed25519`,
      `${BOT.email} ssh-ed25519 AAAA`,
      `${BOT.email} ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB`,
    ])
      assert.throws(
        () => parseAllowedSigners(broken, 'signers', BOT.email),
        { code: 'BP1012' },
        broken,
      )
  })

  it('signs every commit of a repository with a reproducible id, and reports it as signed on reading', async () => {
    const made = await makeTestRepository('local bare')
    try {
      const signer = await findCommitSigner({ BACKPORCH_SIGNING_KEY_FILE: own }, folder, BOT.email)
      assert.ok(signer)
      const repository = openTestRepository(made, { baseBranch: 'main', signer })
      const base = await headOf(repository, signal)
      const draft = changeOf(base, { 'apps/web/deploy.yaml': 'replicas: 4\n' })
      const to = await repository.write(draft)
      assert.equal(await repository.write(draft), to)
      assert.equal((await repository.commit(to, signal)).signed, true)
      assert.equal((await repository.commit(base, signal)).signed, false)
      await repository.push([{ ref: 'refs/heads/drafts/apps/web/drift-1', from: null, to }], signal)
      made.git('-c', `gpg.ssh.allowedSignersFile=${signersFile(own)}`, 'verify-commit', to)
      made.git('fsck', '--strict')
      assert.equal(
        (await openTestRepository(made, { baseBranch: 'main', signer }).commit(to, signal)).signed,
        true,
      )
      const unsigned = openTestRepository(made, { baseBranch: 'main' })
      assert.equal('signed' in (await unsigned.commit(to, signal)), false)
      assert.notEqual(await unsigned.write(draft), to)
    } finally {
      await made.close()
    }
  })
})
