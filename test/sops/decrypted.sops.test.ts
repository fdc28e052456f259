/** The real SOPS with keys that age-keygen makes now. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createSopsDecryptor } from '../../src/adapters/functions/sops-values.ts'
import { decryptedBuildsSuite } from './decrypted-builds.ts'
import { decryptedSuite, documents, PASSWORD, type SopsTools } from './decrypted-suite.ts'
import { sopsOrThrow } from './find-sops.ts'

const { sops, ageKeygen } = await sopsOrThrow()
const folder = mkdtempSync(join(tmpdir(), 'backporch-sops-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function newKey(name: string): { readonly file: string; readonly recipient: string } {
  const file = join(folder, name)
  const { status, stderr } = spawnSync(ageKeygen, ['-o', file], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return {
    file,
    recipient:
      /^# public key: (age1\w+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ??
      assert.fail('no public key'),
  }
}

const [key, other] = [newKey('keys.txt'), newKey('other.txt')]

function run(words: readonly string[], input: string): string {
  const environment = { HOME: folder, SOPS_AGE_KEY_FILE: key.file }
  const { status, stdout, stderr } = spawnSync(sops, words, {
    input,
    encoding: 'utf8',
    env: environment,
  })
  assert.equal(status, 0, stderr)
  return stdout
}

const tools: SopsTools = {
  program: sops,
  environment: { SOPS_AGE_KEY_FILE: key.file },
  wrongKey: { SOPS_AGE_KEY_FILE: other.file },
  encrypt: (text) =>
    run(
      [
        'encrypt',
        '--age',
        key.recipient,
        '--encrypted-regex',
        '^(data|stringData)$',
        '--filename-override',
        'a.yaml',
      ],
      text,
    ),
}

test('the compared values are encrypted by sops', () => {
  const text = tools.encrypt(documents())
  assert.equal(text.match(/ENC\[AES256_GCM/g)?.length, 7)
  assert.ok(!text.includes(Buffer.from(PASSWORD).toString('base64')))
})

for (const format of ['yaml', 'json'] as const)
  test(`decrypts a ${format} file with several recipients by age alone, and verifies its MAC`, async () => {
    const values = createSopsDecryptor({
      allowed: [sops],
      environment: tools.environment,
      workingDirectory: '/',
    })
    assert.ok(values !== undefined)
    const text =
      format === 'yaml'
        ? documents()
        : JSON.stringify({ kind: 'Any', data: { token: PASSWORD, count: 5, on: true, size: 1.5 } })
    const encrypted = run(
      [
        'encrypt',
        '--age',
        key.recipient,
        '--encrypted-regex',
        '^(data|stringData)$',
        '--filename-override',
        `a.${format}`,
      ],
      text,
    )
    const arn = 'arn:aws:kms:eu-central-1:1:key/2'
    const more =
      format === 'yaml'
        ? encrypted.replaceAll(
            /^sops:$/gm,
            `sops:\n    kms:\n        - arn: ${arn}\n          enc: eA==`,
          )
        : encrypted.replace('"sops": {', `"sops": {"kms": [{"arn": "${arn}", "enc": "eA=="}],`)
    assert.ok(more.includes(arn))
    const answer = await values.decrypt(
      { where: 'a', text: more, format, signed: true },
      new AbortController().signal,
    )
    assert.ok('values' in answer, JSON.stringify(answer))
    assert.equal(answer.values.size, 4)
  })

decryptedSuite('what the real sops decrypts', () => tools)
decryptedBuildsSuite('what the real sops decrypts for a build', () => tools)
