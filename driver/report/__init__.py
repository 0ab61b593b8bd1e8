"""What people read: terminal texts, comparisons, pages."""
