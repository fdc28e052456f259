import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import type { PolicyFile } from '../../policy/parse-policy.ts'

/** @throws Failure BP1001: without policies nothing would restrict a repository */
export function readPolicyFiles(path: string): readonly PolicyFile[] {
  try {
    const paths = statSync(path).isDirectory() ? listPolicyFiles(path) : [path]
    if (paths.length > 0)
      return paths.map((file) => ({ path: file, text: readFileSync(file, 'utf8') }))
  } catch (thrown) {
    throw createReadFailure(path, thrown instanceof Error ? thrown.message : String(thrown))
  }
  throw createReadFailure(path, 'no file of the folder ends with .policy, .yaml or .yml')
}

/** A mounted ConfigMap links to files in a folder that starts with two dots. */
function listPolicyFiles(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /\.(?:policy|ya?ml)$/.test(name))
  return names.sort().map((name) => join(folder, name))
}

function createReadFailure(path: string, why: string): Failure {
  return new Failure({
    code: 'BP1001',
    what: `the policies of the operator in ${path} cannot be read`,
    why,
    remedy: 'give --operator-policy a file or folder of DriftPolicy and Placement documents',
  })
}
