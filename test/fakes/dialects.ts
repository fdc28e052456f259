/** Dialects as the forges have them, at addresses of nobody. */
import type { ForgeDialect } from '@backporch/forge/hosted-forge'

const path = (text: string): string =>
  text.toWellFormed().split('/').map(encodeURIComponent).join('/')
const anchor = (line: number | undefined): string => (line === undefined ? '' : `#L${line}`)

export const GITHUB: ForgeDialect = {
  name: 'GitHub',
  bodyLimit: 58_000,
  titleLimit: 256,
  alerts: true,
  folds: true,
  fileUrl: (commit, file, line) =>
    `https://github.example/acme/deploy/blob/${commit}/${path(file)}${anchor(line)}`,
  branchFileUrl: (branch, file) =>
    `https://github.example/acme/deploy/blob/${path(branch)}/${path(file)}`,
}

export const GITEA: ForgeDialect = {
  name: 'Gitea',
  bodyLimit: 250_000,
  titleLimit: 255,
  alerts: true,
  folds: true,
  fileUrl: (commit, file, line) =>
    `https://gitea.example/acme/deploy/src/commit/${commit}/${path(file)}${anchor(line)}`,
  branchFileUrl: (branch, file) =>
    `https://gitea.example/acme/deploy/src/branch/${path(branch)}/${path(file)}`,
}

/** The least that any forge gives: short bodies, nothing drawn, no pages. */
export const PLAIN: ForgeDialect = {
  name: 'git',
  bodyLimit: 4_000,
  titleLimit: 100,
  alerts: false,
  folds: false,
  fileUrl: () => '',
  branchFileUrl: () => '',
}
