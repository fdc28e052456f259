/** A program with the command line, the exit codes and the output of `sops -d`. Its cipher is the text backwards. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { SopsTools } from './decrypted-suite.ts'

const PROGRAM = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs')
writeFileSync(__filename + '.env', JSON.stringify(process.env))
const text = readFileSync(process.argv.at(-1), 'utf8')
writeFileSync(__filename + '.input', text)
const key = process.env.SOPS_AGE_KEY ?? readFileSync(process.env.SOPS_AGE_KEY_FILE, 'utf8')
const plain = text.replaceAll(/"?ENC\\[AES256_GCM,data:([^,]*),[^\\]]*\\]"?/g, (_, data) => JSON.stringify([...data].reverse().join('')))
if (key !== 'right') { console.error('cannot open ' + plain); process.exit(128) }
const edited = /tier: two/.test(text) && !process.argv.includes('--ignore-mac')
if (edited) { console.error('MAC mismatch of ' + plain); process.exit(51) }
process.stdout.write(plain)
`

let count = 0

function encrypted(value: string): string {
  count += 1
  return `ENC[AES256_GCM,data:${[...value].reverse().join('')},iv:${count},tag:dGFn,type:str]`
}

export const BLOCK = `sops:
    age:
        - recipient: age1q0
          enc: none
    lastmodified: "2026-11-20T10:00:00Z"
    mac: ENC[AES256_GCM,data:cam,iv:aXY=,tag:dGFn,type:str]
    version: 3.11.0
`

export interface ScriptedSops extends SopsTools {
  /** The whole environment of the last run. */
  readonly lastEnvironment: () => { readonly [name: string]: string }
  /** The text that it was given last. */
  readonly lastInput: () => string
}

export function scriptedSops(): ScriptedSops {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-sops-test-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'sops')
  writeFileSync(program, PROGRAM, { mode: 0o755 })
  writeFileSync(join(folder, 'keys.txt'), 'right')
  return {
    program,
    environment: { SOPS_AGE_KEY_FILE: join(folder, 'keys.txt'), AWS_PROFILE: 'none' },
    wrongKey: { SOPS_AGE_KEY: 'wrong' },
    encrypt: (text) =>
      text
        .split('---\n')
        .map(
          (document) =>
            document.replaceAll(
              /^( {4}(?:password|token|dsn|port): )"?([^"\n]*)"?$/gm,
              (_, key, value) => key + encrypted(value),
            ) + BLOCK,
        )
        .join('---\n'),
    lastEnvironment: () =>
      JSON.parse(readFileSync(`${program}.env`, 'utf8')) as { readonly [name: string]: string },
    lastInput: () => readFileSync(`${program}.input`, 'utf8'),
  }
}
