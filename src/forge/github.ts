/** GitHub. */
export { GITHUB } from './github/github.ts'
export { type GitHubAddress, parseGitHubAddress } from './github/github-address.ts'
export { GitHubClient } from './github/github-client.ts'
export { appCredential, type GitHubCredential } from './github/github-credentials.ts'
export { GITHUB_SETUP } from './github/github-setup.ts'
export { githubGovernor, type OpenedGitHub, openGitHub } from './github/open-github.ts'
export { probeGitHub } from './github/probe-github.ts'
