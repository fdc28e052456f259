import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { findNonEmptyText } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'

/** As programs write above generated content. */
const MARK = /\bdo not (?:edit|modify)\b|@generated\b/i

/**
 * Not for a generated file, because the next run would lose the edit, nor one signed by SOPS.
 * @throws Failure BP1110, BP1111 or BP2007
 */
export function editAuthored(text: string, edits: readonly YamlEdit[], path: string): string {
  const line = findMarkLine(text)
  if (line !== undefined)
    throw createUneditableFailure(path, {
      where: `${path}:${line}`,
      why: 'the file says that a program generates it, and the next run of the program would overwrite the edit',
      remedy: 'edit the input of the program, run it and commit both; or choose restore',
    })
  if (isSigned(text, path))
    throw createUneditableFailure(path, { where: path, ...explainNotSigned(path) })
  return editYaml(text, edits, path)
}

/** SOPS signs every value of a file, even plain ones, and Backporch has no key. */
export function explainNotSigned(path: string): { readonly why: string; readonly remedy: string } {
  return {
    why: `${path} is encrypted with SOPS, whose signature covers every value of the file: an edit without its key makes the file unreadable`,
    remedy: `choose restore, or change it with sops edit ${path} and commit that`,
  }
}

/** Before the first value; the line counts from 1. */
function findMarkLine(text: string): number | undefined {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !/^\s*(?:#|---|$|\uFEFF)/.test(line))
  const at = lines.slice(0, end === -1 ? lines.length : end).findIndex((line) => MARK.test(line))
  return at === -1 ? undefined : at + 1
}

function isSigned(text: string, path: string): boolean {
  return (
    /^["']?sops\b/m.test(text) &&
    parseGoYaml(text, path).documents.some(
      ({ value }) => findNonEmptyText(value, 'sops', 'mac') !== undefined,
    )
  )
}

function createUneditableFailure(
  path: string,
  detail: { readonly where: string; readonly why: string; readonly remedy: string },
): Failure {
  return new Failure({ code: 'BP2007', what: `cannot edit ${path}`, ...detail, retry: 'never' })
}
