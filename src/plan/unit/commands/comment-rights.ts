/**
 * A command needs write access, and for dangerous changes also code ownership
 * (docs/guides/pull-request-commands.md).
 */
import type { Permission } from '@backporch/forge/hosted-forge'
import { Failure } from '@backporch/kyaml/failure'
import type { Resolution } from '../../../drift/compare/drift.ts'
import { listCodeOwners } from '../../../policy/code-owners.ts'
import type { Change } from '../../../record/documents/change.ts'
import { joinFolderPath } from '../../../sources/kustomize/files/kustomization-walk.ts'

export interface Commenter {
  readonly login: string
  readonly permission: Permission
}

export interface OwnedPackage {
  readonly packagePath: string
  /** Of the base branch; empty if there is none. */
  readonly codeOwners: string
}

/** @throws Failure BP2013 for a login without write access */
export function assertMayWrite({ login, permission }: Commenter, owned: OwnedPackage): void {
  if (permission === 'write' || permission === 'admin') return
  const owners = listCodeOwners(owned.codeOwners, resolveKptfilePath(owned.packagePath))
  throw createNotAllowedFailure(
    `${quoteLogin(login)} needs write access to the repository for this`,
    permission === 'none' ? 'the forge gives no access' : `the access is: ${permission}`,
    owners.length === 0
      ? 'ask somebody who has it'
      : `ask ${owners.slice(0, OWNERS_TOLD).join(' or ')}`,
  )
}

/**
 * Adopting, releasing or ignoring a critical or high change requires an owner of every affected
 * file. A team or an address does not identify a login: then only a repository administrator is
 * accepted.
 * @param verb as in `adopt`
 * @throws Failure BP2013
 */
export function assertOwner(
  verb: string,
  chosen: readonly Change[],
  { login, permission }: Commenter,
  owned: OwnedPackage,
): void {
  for (const change of chosen) {
    if (change.risk !== 'critical' && change.risk !== 'high') continue
    const file = getChangeFile(change, owned.packagePath)
    const owners = listCodeOwners(owned.codeOwners, file)
    if (
      owners.length === 0 ||
      owners.some((owner) => owner.toLowerCase() === `@${login.toLowerCase()}`)
    )
      continue
    const unproven = owners.filter((owner) => owner.includes('/') || !owner.startsWith('@'))
    if (unproven.length > 0 && permission === 'admin') continue
    const reported = owners.slice(0, OWNERS_TOLD).join(' or ')
    throw createNotAllowedFailure(
      `to ${verb} a ${change.risk} change of ${file} is for its code owners`,
      unproven.length === 0
        ? `they are ${reported}, and not ${quoteLogin(login)}`
        : `they are ${reported}, and whether ${quoteLogin(login)} belongs to ${unproven.length === 1 ? 'it' : 'them'} is not shown by the forge`,
      unproven.length === 0
        ? `ask ${reported}`
        : `ask ${reported}, or an administrator of the repository`,
    )
  }
}

export function needsOwner(resolution: Resolution): boolean {
  return resolution !== 'Restore'
}

const OWNERS_TOLD = 3

export function resolveKptfilePath(packagePath: string): string {
  return joinFolderPath(packagePath, 'Kptfile')
}

export function getChangeFile({ source }: Pick<Change, 'source'>, packagePath: string): string {
  return source?.replace(/:[0-9]+$/, '') ?? resolveKptfilePath(packagePath)
}

/** So that a user called `all` is not read as everybody. */
function quoteLogin(login: string): string {
  return `"${login}"`
}

function createNotAllowedFailure(what: string, why: string, remedy: string): Failure {
  return new Failure({ code: 'BP2013', what, why, remedy, retry: 'on-change' })
}
