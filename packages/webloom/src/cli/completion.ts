/** The command that teaches a shell to complete command lines, and the one that the shell then asks. */

import { type CliCommand, command } from './command.ts'

export const completion = command<object, [shell: string]>(
  'completion <shell>',
  'print a script that lets bash, zsh or fish complete commands, options, settings and spiders',
  {},
  async (_, [shell]) => {
    const { completionScript } = await import('../completion/shell-scripts.ts')
    process.stdout.write(completionScript(shell))
  },
  [
    ["echo 'source <(webloom completion bash)' >> ~/.bashrc", 'bash: in each shell that begins from now on'],
    [
      "echo 'source <(webloom completion zsh)' >> ~/.zshrc",
      'zsh: the same; compinit must stand above this line',
    ],
    ['webloom completion fish > ~/.config/fish/completions/webloom.fish', 'fish: at once'],
  ],
)

/** Not among the commands of the help, as only the scripts of `completion` call it. It prints a candidate each line. */
export const complete: CliCommand = (program) => {
  program
    .command('__complete <shell> [words...]', { hidden: true })
    .description('print how the last word may go on')
    .action(async (shell: string, words: readonly string[]) => {
      const { printCandidates } = await import('../commands/complete.ts')
      printCandidates(program, shell, words)
    })
}
