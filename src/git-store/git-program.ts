/** The git program, with an environment that is ours. */
export { gitEnvironment, gitText, runGit } from './program/git-program.ts'
